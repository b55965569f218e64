//! Which shell is the real one: never fullbore itself, under whatever name.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// What a shell is called by when nothing else is said; also where execvp(3) looks without PATH.
const USUAL: &str = "/bin/sh";
const USUAL_PATH: &str = "/bin:/usr/bin";

/// Links to fullbore with these names are the shells that they are named after.
const SHELLS: [&str; 13] = [
    "ash", "bash", "dash", "fish", "ksh", "ksh93", "mksh", "osh", "rbash", "rksh", "sh", "yash",
    "zsh",
];

/// A shell, and the name by which it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shell {
    /// The program, looked up in PATH when it is a bare name.
    pub(super) program: OsString,
    /// Its `$0`.
    pub(super) name: OsString,
}

impl Shell {
    /// The same shell, called as login(1) calls it.
    pub(super) fn for_login(mut self) -> Self {
        self.name = format!("-{}", base(&self.program)).into();
        self
    }
}

/// The shell that a link to fullbore stands for, by the name it is called by: `fullbore-bash`, `bash`, `-fullbore-bash` for
/// a login shell.
pub(crate) fn of_link(name: &OsStr) -> Option<OsString> {
    let base = base(name);
    let base = base.strip_prefix('-').unwrap_or(base);
    // Not every name: `fullbore-1.2` and `fullbore-x86_64` are this program.
    let shell = base.strip_prefix("fullbore-").unwrap_or(base);
    SHELLS.contains(&shell).then(|| shell.into())
}

/// What finding a shell depends on.
pub(super) struct Places {
    /// The folders in which a program is looked up.
    path: OsString,
    /// Device and inode of this program.
    own: Option<(u64, u64)>,
}

impl Places {
    /// Those of this process.
    pub(super) fn of_this_process() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
        Self { path, own: file(Path::new("/proc/self/exe")) }
    }

    /// The shell that somebody asked for by a name or a path; another one where that is fullbore itself.
    pub(super) fn find(&self, wanted: Option<&OsStr>) -> Option<Shell> {
        let wanted = wanted.unwrap_or(OsStr::new(USUAL));
        let found = self.first(wanted, |_| true);
        let is_other = found.as_ref().is_none_or(|path| !self.is_own(path));
        if is_other && !is_our_name(wanted) {
            return Some(Shell { program: wanted.to_owned(), name: wanted.to_owned() });
        }
        let stands_for = of_link(wanted).unwrap_or_else(|| "sh".into());
        let names = [stands_for.as_os_str(), OsStr::new("sh")];
        let paths = [self.path.as_os_str(), OsStr::new(USUAL_PATH)];
        let tries = names.iter().flat_map(|name| paths.iter().map(move |path| (name, path)));
        let mut found = tries
            .filter_map(|(name, path)| first_in(path, Path::new(name), |path| !self.is_own(path)));
        let program: OsString = found.next()?.into();
        Some(Shell { name: program.clone(), program })
    }

    /// The first executable file that a name or a path stands for.
    fn first(&self, wanted: &OsStr, fits: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let path = Path::new(wanted);
        if wanted.as_encoded_bytes().contains(&b'/') {
            return (is_program(path) && fits(path)).then(|| path.to_owned());
        }
        first_in(&self.path, path, fits)
    }

    fn is_own(&self, path: &Path) -> bool {
        let target = path.canonicalize();
        let names = [Some(path.as_os_str()), target.as_ref().ok().map(|target| target.as_os_str())];
        names.into_iter().flatten().any(is_our_name)
            || (self.own.is_some() && file(path) == self.own)
    }
}

fn first_in(folders: &OsStr, name: &Path, fits: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut paths = std::env::split_paths(folders).map(|folder| folder.join(name));
    paths.find(|path| is_program(path) && fits(path))
}

/// Another build of fullbore is another file, and would be as good a beginning of a circle.
fn is_our_name(name: &OsStr) -> bool {
    let base = base(name);
    let rest = base.strip_prefix('-').unwrap_or(base).strip_prefix("fullbore");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ' ']))
}

fn base(name: &OsStr) -> &str {
    let base = Path::new(name).file_name().and_then(OsStr::to_str);
    base.unwrap_or_default()
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

fn file(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A folder `first` with links to a program of ours, and a folder `then` with shells.
    fn places(links: &[&str], shells: &[&str]) -> (tempfile::TempDir, Places) {
        let root = tempfile::tempdir().unwrap();
        let (first, then) = (root.path().join("first"), root.path().join("then"));
        fs::create_dir(&first).unwrap();
        fs::create_dir(&then).unwrap();
        let make = |path: &Path| {
            fs::write(path, "#!/bin/true\n").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        let own = root.path().join("program");
        make(&own);
        for link in links {
            symlink(&own, first.join(link)).unwrap();
        }
        for shell in shells {
            make(&then.join(shell));
        }
        let path = std::env::join_paths([&first, &then]).unwrap();
        let own = file(&own);
        (root, Places { path, own })
    }

    fn program(places: &Places, wanted: &OsStr) -> PathBuf {
        places.find(Some(wanted)).unwrap().program.into()
    }

    #[test]
    fn a_shell_is_called_by_the_name_that_was_given() {
        let (_root, places) = places(&["fullbore-bash"], &["bash"]);
        let shell = |name: &str| Shell { program: name.into(), name: name.into() };
        assert_eq!(places.find(Some(OsStr::new("bash"))), Some(shell("bash")));
        assert_eq!(places.find(None), Some(shell("/bin/sh")));
        assert_eq!(places.find(Some(OsStr::new("/none/such"))), Some(shell("/none/such")));
    }

    #[test]
    fn a_link_to_this_program_is_passed_over() {
        let (root, places) = places(&["bash", "fullbore-bash"], &["bash"]);
        let real = root.path().join("then/bash");
        let links = [root.path().join("first/bash"), root.path().join("first/fullbore-bash")];
        for wanted in ["bash", "fullbore-bash"]
            .map(OsStr::new)
            .into_iter()
            .chain(links.iter().map(|link| link.as_os_str()))
        {
            assert_eq!(program(&places, wanted), real, "{wanted:?}");
        }
    }

    #[test]
    fn another_build_of_this_program_is_known_by_its_name() {
        let (root, places) = places(&[], &["fullbore", "fullbore-bash", "bash", "sh"]);
        let then = root.path().join("then");
        assert_eq!(program(&places, then.join("fullbore-bash").as_os_str()), then.join("bash"));
        assert_eq!(program(&places, OsStr::new("fullbore")), then.join("sh"));
        assert_eq!(program(&places, OsStr::new("fullbore sh")), then.join("sh"));
        symlink(then.join("fullbore"), then.join("ksh")).unwrap();
        // The machine's own, where there is one.
        let own =
            ["/bin/ksh", "/usr/bin/ksh"].map(PathBuf::from).into_iter().find(|ksh| ksh.exists());
        let expected = own.unwrap_or_else(|| then.join("sh"));
        assert_eq!(program(&places, OsStr::new("ksh")), expected);
    }

    #[test]
    fn links_stand_for_the_shell_in_their_name() {
        let shell = |name: &str| of_link(OsStr::new(name));
        assert_eq!(shell("/opt/x/fullbore-bash"), Some("bash".into()));
        assert_eq!(shell("-fullbore-zsh"), Some("zsh".into()));
        assert_eq!(shell("/opt/shells/sh"), Some("sh".into()));
        for name in
            ["fullbore", "./fullbore", "fullbore-", "fullbore-1.2", "fullbore-copy", "perl", ""]
        {
            assert_eq!(shell(name), None, "{name}");
        }
    }
}
