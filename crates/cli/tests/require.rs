//! What a test needs from the machine: it is skipped with its reason, and in CI that is a failure.

/// Leaves the test when `$met` is false.
macro_rules! require {
    ($met:expr, $($why:tt)+) => {
        if !$met {
            $crate::require::skipped(&format!($($why)+));
            return;
        }
    };
}

/// Leaves the test when a program is not installed.
macro_rules! require_programs {
    ($($program:expr),+ $(,)?) => {
        $(require!($crate::sandbox::is_installed($program), "{} is not installed", $program);)+
    };
}

/// Says why a test is skipped; fails when nothing may be skipped.
pub(crate) fn skipped(why: &str) {
    assert!(
        std::env::var_os("FULLBORE_CI").is_none(),
        "skipped: {why} (FULLBORE_CI is set, so this is a failure)"
    );
    eprintln!("skipped: {why}");
}

/// Whether this is Linux `major.minor` or later.
pub(crate) fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let numbers: Vec<u32> =
        release.split(['.', '-']).map_while(|number| number.parse().ok()).take(2).collect();
    numbers >= vec![major, minor]
}
