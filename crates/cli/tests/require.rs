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
