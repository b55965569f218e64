//! `fullbore run --auto`: the line that runs instead, and what its stages tell of what they did.

use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::thread::{self, JoinHandle};

use fullbore_auto::{Change, Context, FileBytes, Rewritten, rewrite};
use fullbore_process::hold_signals;
use fullbore_record::{AutoRecord, AutoWhat};
use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};

use crate::args::prove::Prove;

/// What a stage did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Done {
    /// The command took the place of `fullbore`.
    AsItIs,
    /// One copy of it took everything.
    Alone,
    /// After a proof, if there was one.
    Dealt { proved_bytes: Option<u64> },
    /// After a proof, unless that was not wanted.
    Fused { proved_bytes: Option<u64> },
    /// The command took everything, and so did the other way, with the same output.
    Proved { proved_bytes: u64 },
    /// The answers were not the same.
    Differs,
}

/// What a stage tells.
#[derive(Debug, Serialize, Deserialize)]
struct Message {
    pid: u32,
    done: Done,
}

/// The end of what is listened to.
const END: &[u8] = b"end";

/// A message is not longer.
const MESSAGE_BYTES: usize = 200;

/// Tells what is done, if somebody listens. That nobody hears is no failure.
pub(crate) fn tell(address: Option<&str>, done: Done) {
    let Some(address) = address else { return };
    let message = Message { pid: std::process::id(), done };
    let _ = serde_json::to_vec(&message).map(|message| send(address, &message));
}

fn send(address: &str, message: &[u8]) -> std::io::Result<()> {
    let to = SocketAddr::from_abstract_name(address)?;
    UnixDatagram::unbound()?.send_to_addr(message, &to).map(drop)
}

/// Listens to the stages.
pub(crate) struct Listener {
    address: String,
    messages: JoinHandle<Vec<Message>>,
}

impl Listener {
    fn start() -> std::io::Result<Self> {
        let seed = crate::commands::memory::seed("auto");
        let address = format!("fullbore-{}-{seed:x}", std::process::id());
        let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&address)?)?;
        let listen = move || {
            let (mut messages, mut bytes) = (Vec::new(), [0; MESSAGE_BYTES]);
            while let Ok(count) = socket.recv(&mut bytes)
                && &bytes[..count] != END
            {
                messages.extend(serde_json::from_slice::<Message>(&bytes[..count]));
            }
            messages
        };
        // It must not get a signal for which `run` has no handler yet.
        let held = hold_signals();
        let messages = thread::Builder::new().name("listening".to_owned()).spawn(listen)?;
        drop(held);
        Ok(Self { address, messages })
    }

    fn end(self) -> Vec<Message> {
        if send(&self.address, END).is_err() {
            return Vec::new();
        }
        self.messages.join().unwrap_or_default()
    }
}

/// A line that runs in the place of the one that was given.
pub(crate) struct Auto {
    pub(crate) rewritten: Rewritten,
    listener: Option<Listener>,
    proved: Option<Prove>,
}

impl Auto {
    /// Rewrites a line for a shell.
    pub(crate) fn new(shell: &OsStr, line: &OsStr, proved: Option<Prove>) -> Self {
        let Ok(program) = std::env::current_exe() else {
            let rewritten = untouched(line, "the path of fullbore is unknown");
            return Self { rewritten, listener: None, proved };
        };
        let listener = Listener::start().ok();
        let told = listener.as_ref().map(|listener| format!(" --tell={}", listener.address));
        let program = shell_words::quote(&program.to_string_lossy()).into_owned();
        let proof = proved.map(|proved| format!(" --prove={proved}"));
        let tool = format!(
            "{program} par --auto{}{}",
            told.unwrap_or_default(),
            proof.unwrap_or_default()
        );
        let rewritten = rewritten(shell, line, &tool, proved.is_none());
        Self { rewritten, listener, proved }
    }

    /// What became of the changes, after the run; `stages` are the stages of the record and their processes.
    pub(crate) fn end(self, stages: &[(u32, i32)]) -> Vec<AutoRecord> {
        let mut messages = self.listener.map(Listener::end).unwrap_or_default();
        let place = |message: &Message| {
            stages.iter().position(|(_, pid)| i32::try_from(message.pid) == Ok(*pid))
        };
        messages.sort_by_key(place);
        let mut found = Vec::new();
        for message in &messages {
            let mut record = AutoRecord::default();
            record.stage = place(message).map(|index| stages[index].0);
            record.what = match message.done {
                Done::AsItIs => AutoWhat::Unchanged,
                Done::Alone | Done::Proved { .. } => AutoWhat::Alone,
                Done::Dealt { .. } => AutoWhat::Dealt,
                Done::Fused { .. } => AutoWhat::Fused,
                Done::Differs => AutoWhat::Differs,
            };
            record.proved_bytes = match message.done {
                Done::Dealt { proved_bytes } | Done::Fused { proved_bytes } => proved_bytes,
                Done::Proved { proved_bytes } => Some(proved_bytes),
                Done::AsItIs | Done::Alone | Done::Differs => None,
            };
            found.push(record);
        }
        found
    }

    /// The line that runs, and what is changed in it, for a person.
    pub(crate) fn explanation(&self) -> String {
        if let Some(why) = self.rewritten.untouched {
            return format!("The line stays as it is, because {why}.\n");
        }
        let little: String = self
            .rewritten
            .read_little
            .iter()
            .map(|text| format!("# {text}: stays as it is, because its input is small\n"))
            .collect();
        if self.rewritten.changes.is_empty() {
            let why = match little.is_empty() {
                true => "it has no command that could be dealt out",
                false => "its input is small",
            };
            return format!("The line stays as it is: {why}.\n{little}");
        }
        let told = self.listener.as_ref().map(|listener| format!(" --tell={}", listener.address));
        let line = self.rewritten.line.replace(&told.unwrap_or_default(), "");
        let mut text = format!("{line}\n");
        for change in &self.rewritten.changes {
            let (what, becomes) = match change {
                Change::Offered(command) => {
                    (command, "dealt out if the pipeline waits for it and a CPU is idle")
                }
                Change::Fused(stages) => (stages, "answered without sorting every line"),
            };
            let proof = match (self.proved, change) {
                (Some(Prove::All), _) => {
                    " in a trial beside it, of which nothing is written".into()
                }
                (Some(Prove::First(bytes)), _) => {
                    format!(
                        ", once the first {bytes} of its input show that the bytes are the same"
                    )
                }
                (None, Change::Fused(_)) => {
                    ", once the first MiB shows that the bytes are the same".into()
                }
                (None | Some(Prove::Off), _) => String::new(),
            };
            text.push_str(&format!("# {what}: {becomes}{proof}\n"));
        }
        text + &little
    }
}

/// The line for this shell, with `tool` before what it changes. With `must_pay`, what is known to read little stays as it is.
pub(crate) fn rewritten(shell: &OsStr, line: &OsStr, tool: &str, must_pay: bool) -> Rewritten {
    let Some(text) = line.to_str() else {
        return untouched(line, "it is not UTF-8");
    };
    if let Some(why) = unsure(shell) {
        return untouched(line, why);
    }
    let file_bytes: Option<FileBytes<'_>> = must_pay.then_some(&file_bytes);
    let context =
        Context { tool, collates_bytes: collates_bytes(), is_program: &is_program, file_bytes };
    rewrite(text, &context)
}

fn untouched(line: &OsStr, why: &'static str) -> Rewritten {
    let line = line.to_string_lossy().into_owned();
    Rewritten { line, changes: Vec::new(), read_little: Vec::new(), untouched: Some(why) }
}

/// The size of a regular file. Those of /proc and /sys say 0, however much can be read.
fn file_bytes(name: &str) -> Option<u64> {
    let found = std::fs::metadata(name).ok().filter(std::fs::Metadata::is_file)?;
    Some(found.len()).filter(|bytes| *bytes > 0)
}

/// Whether strings are ordered by their bytes here, and numbers have points and no separators. Source: locale(7); C.UTF-8
/// orders by code points, whose order is that of their bytes.
pub(crate) fn collates_bytes() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_plain = |category: &str| {
        let locale = set("LC_ALL").or_else(|| set(category)).or_else(|| set("LANG"));
        let plain = ["C", "POSIX", "C.UTF-8", "C.utf8"];
        locale.is_none_or(|locale| plain.iter().any(|name| locale == *name))
    };
    is_plain("LC_COLLATE") && is_plain("LC_NUMERIC")
}

/// Why names in a line for this shell may stand for something else.
fn unsure(shell: &OsStr) -> Option<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(shell));
    let found = found.chain([Path::new(shell).to_owned()]).find(|path| is_executable(path));
    let real = found.and_then(|path| path.canonicalize().ok());
    let name = real.as_ref().and_then(|path| path.file_name()).unwrap_or(shell);
    let known = ["sh", "dash", "bash", "ksh93", "mksh", "yash"];
    if !known.iter().any(|known| name == *known) {
        return Some("only the lines of sh, dash, bash, ksh93, mksh and yash are understood");
    }
    let has_file = std::env::var_os("BASH_ENV").is_some_and(|file| !file.is_empty());
    if has_file && name == "bash" {
        return Some("BASH_ENV names a file that may define functions");
    }
    if std::env::var_os("SHELLOPTS").is_some() {
        return Some("SHELLOPTS in the environment changes how the shell works");
    }
    let is_function = |name: &OsStr| name.as_bytes().starts_with(b"BASH_FUNC_");
    if std::env::vars_os().any(|(name, _)| is_function(&name)) {
        return Some("the environment has functions");
    }
    None
}

/// Whether the shell would run a program for this word.
fn is_program(word: &str) -> bool {
    if word.contains('/') {
        return is_executable(Path::new(word));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_executable(&folder.join(word)))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}
