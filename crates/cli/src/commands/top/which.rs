//! Which pipelines of an overview were asked for.

use fullbore_record::{Overview, Seen};

use crate::args::top::TopOptions;

/// What of an overview was asked for.
pub(super) fn narrowed(mut overview: Overview, options: &TopOptions) -> Overview {
    let which = &options.which;
    let filter = which.filter.to_lowercase();
    let is_wanted = |seen: &Seen| {
        let place = &seen.place;
        let of_user = which
            .user
            .as_ref()
            .is_none_or(|user| place.user.as_ref() == Some(user) || place.uid.to_string() == *user);
        let of_pid = which.pid.is_empty() || seen.pids().any(|pid| which.pid.contains(&pid));
        of_user && of_pid && seen.has(&filter)
    };
    let shows_idle = which.idle || !which.pid.is_empty();
    overview.pipelines.retain(|seen| is_wanted(seen));
    if options.json && !shows_idle {
        overview.pipelines.retain(|seen| !seen.is_idle);
    }
    overview
}
