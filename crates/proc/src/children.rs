//! Reads `/proc/PID/task/TID/children`: the processes that a thread started.

/// Parses the process numbers in the file's text. A last number without the space that ends it may be cut off and is
/// left out.
///
/// Source: `proc_pid_task(5)`, "children".
pub fn children(text: &str) -> impl Iterator<Item = i32> {
    let whole = text.rfind(char::is_whitespace).map_or("", |end| &text[..end]);
    whole.split_ascii_whitespace().filter_map(|word| word.parse().ok()).filter(|pid| *pid > 0)
}
