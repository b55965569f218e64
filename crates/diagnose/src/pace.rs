//! Stages that set their own pace: their words limit their rate, or they wait for somebody.

use fullbore_record::StageRecord;

use super::names::Command;

/// Options that limit a rate, by program; the value is the rest of the word or the next one.
const LIMITS: [(&str, &[&str]); 12] = [
    ("pv", &["-L", "--rate-limit"]),
    ("curl", &["--limit-rate", "--rate"]),
    ("wget", &["--limit-rate", "-w", "--wait"]),
    ("wget2", &["--limit-rate", "-w", "--wait"]),
    ("rsync", &["--bwlimit"]),
    ("rclone", &["--bwlimit", "--tpslimit"]),
    ("scp", &["-l"]),
    ("sftp", &["-l"]),
    ("mbuffer", &["-r", "-R"]),
    ("cstream", &["-t"]),
    ("aria2c", &["--max-download-limit", "--max-overall-download-limit"]),
    ("ffmpeg", &["-re", "-readrate"]),
];

/// Programs that do nothing but limit a rate, or wait.
const LIMITERS: [&str; 5] = ["trickle", "throttle", "sleep", "usleep", "slowcat"];

/// Programs that show something to somebody and wait for keys.
const FOR_THE_USER: [&str; 20] = [
    "less", "more", "most", "pg", "lv", "moar", "ov", "w3m", "lynx", "man", "vi", "vim", "nvim",
    "view", "nano", "emacs", "fzf", "dialog", "whiptail", "sk",
];

/// Pagers among them.
const PAGERS: [&str; 7] = ["less", "more", "most", "pg", "lv", "moar", "ov"];

/// What limits the rate of a stage by its own words: `--limit-rate of curl`.
pub(super) fn own_limit(stage: &StageRecord) -> Option<String> {
    [Command::of(stage), Command::that_started(stage)].iter().find_map(limit_of)
}

fn limit_of(runs: &Command) -> Option<String> {
    let name = runs.program.as_str();
    if LIMITERS.contains(&name) {
        return Some(name.to_owned());
    }
    let (_, options) = LIMITS.iter().find(|(program, _)| *program == name)?;
    let is_set = |option: &&&str| runs.arguments.iter().any(|word| sets(word, option));
    options.iter().find(is_set).map(|option| format!("{option} of {name}"))
}

/// Whether a word is this option, with its value or without: `-L`, `-L2m`, `-qL`, `--limit-rate=2M`.
fn sets(word: &str, option: &str) -> bool {
    let is_short = option.len() == 2;
    if word == option || (!is_short && word.split('=').next() == Some(option)) {
        return true;
    }
    let letter = option.trim_start_matches('-');
    let group = word.strip_prefix('-').filter(|group| is_short && !group.starts_with('-'));
    // Letters before it are options without a value.
    group
        .and_then(|group| group.split_once(letter))
        .is_some_and(|(before, _)| before.chars().all(|c| c.is_ascii_alphabetic()))
}

/// Whether it shows its input to somebody and waits for keys.
pub(super) fn waits_for_the_user(runs: &Command) -> bool {
    FOR_THE_USER.contains(&runs.program.as_str())
}

/// What to know about a stage that waits for the terminal because somebody reads there.
pub(super) fn for_the_user(stage: &StageRecord) -> Option<String> {
    let programs = [Command::of(stage), Command::that_started(stage)];
    let runs = programs.iter().find(|runs| waits_for_the_user(runs))?;
    let is_pager = PAGERS.contains(&runs.program.as_str());
    Some(if is_pager {
        format!("The pager waits for you: {} takes more input as you read on.", runs.program)
    } else {
        format!("{} waits for you.", runs.program)
    })
}

/// Whether the words name this machine as the other end of a connection.
pub(super) fn is_on_this_machine(stage: &StageRecord) -> bool {
    let names_it = |word: &String| {
        let parts = |word: &str| {
            let parts = word.split(|c: char| !(c.is_ascii_alphanumeric() || ".-_".contains(c)));
            parts.map(str::to_owned).collect::<Vec<_>>()
        };
        let is_loopback = |part: &String| {
            part == "localhost" || part.starts_with("127.") && part.split('.').count() == 4
        };
        word.contains("::1]") || word == "::1" || parts(word).iter().any(is_loopback)
    };
    stage.words.iter().chain(&stage.main_words).any(names_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(words: &str) -> StageRecord {
        let mut stage = StageRecord::default();
        stage.words = shell_words::split(words).unwrap();
        stage
    }

    #[test]
    fn words_that_limit_a_rate_are_known() {
        for (words, limit) in [
            ("pv -L 2m", Some("-L of pv")),
            ("pv -qL2m", Some("-L of pv")),
            ("pv --rate-limit=5k x", Some("--rate-limit of pv")),
            ("pv -q", None),
            ("curl -s --limit-rate 2M http://x", Some("--limit-rate of curl")),
            ("curl -sL http://x", None),
            ("wget -qO- --limit-rate=1m http://x", Some("--limit-rate of wget")),
            ("rsync -a --bwlimit=1000 a b", Some("--bwlimit of rsync")),
            ("trickle -d 100 curl http://x", Some("trickle")),
            ("sleep 3", Some("sleep")),
            ("cat --limit-rate", None),
        ] {
            assert_eq!(own_limit(&stage(words)).as_deref(), limit, "{words}");
        }
    }

    #[test]
    fn this_machine_is_known_by_its_names() {
        for (words, is_here) in [
            ("curl http://localhost:8080/x", true),
            ("curl http://127.0.0.1/x", true),
            ("nc ::1 80", true),
            ("curl http://[::1]:80/x", true),
            ("curl http://127.example.org/x", false),
            ("curl http://example.org/localhost.txt", false),
        ] {
            assert_eq!(is_on_this_machine(&stage(words)), is_here, "{words}");
        }
    }
}
