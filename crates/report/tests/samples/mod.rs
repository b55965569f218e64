//! Records made by hand, each for one difficulty of showing them.

#![allow(dead_code, reason = "each test binary uses some of them")]
#![allow(clippy::cast_possible_truncation, reason = "made-up numbers need not be exact")]
#![allow(clippy::too_many_lines, reason = "a record is long")]

mod parts;

use std::collections::BTreeMap;

use fullbore_record::{
    Cause, ChangeKind, FindingKind, Incident, LimitKind, LimitRecord, Outcome, PredictionRecord,
    RunRecord, SCHEMA, TuningRecord, WhatIfRecord,
};

use parts::{finding, noise, pipe, run, stage, timeline};

/// Name and record of every sample.
pub(crate) fn all() -> Vec<(&'static str, RunRecord)> {
    vec![
        ("bottleneck", bottleneck()),
        ("taking_turns", taking_turns()),
        ("unknown", unknown()),
        ("many_stages", many_stages()),
        ("hostile", hostile()),
        ("fan_out", fan_out()),
        ("empty", empty()),
    ]
}

/// A run so short that nothing was seen of it.
fn empty() -> RunRecord {
    let mut record = RunRecord::default();
    record.schema = SCHEMA.into();
    record.elapsed_ns = 2_000_000;
    record
}

/// The example of the documentation: four stages, jq holds the others back.
pub(crate) fn bottleneck() -> RunRecord {
    let life = 11_600_000_000;
    let mut record =
        run("zstdcat prices.zst | jq -c .price | sort -n | tail -1", life, 11_400_000_000);
    record.stages = vec![
        stage(1, "zstdcat prices.zst", life, [4.0, 0.2, 0.0, 95.8, 0.0], (38_000_000, 382_000_000)),
        stage(2, "jq -c .price", life, [98.6, 0.4, 0.0, 1.0, 0.0], (382_000_000, 36_000_000)),
        stage(3, "sort -n", life, [8.0, 0.3, 91.7, 0.0, 0.0], (36_000_000, 36_000_000)),
        stage(4, "tail -1", life, [0.1, 0.0, 99.9, 0.0, 0.0], (36_000_000, 7)),
    ];
    record.pipes = vec![
        pipe(1, 1, 2, (95.8, 0.0), life),
        pipe(2, 2, 3, (1.0, 91.7), life),
        pipe(3, 3, 4, (0.0, 99.9), life),
    ];
    record.findings = vec![
        finding(
            FindingKind::Bottleneck,
            Some(2),
            None,
            "jq is on a CPU 99 % and zstdcat waits for it 96 % of the time.",
            "No pipe setting helps. Run several at once, if its lines are independent: `parallel -q --pipe -k --block 10M jq -c .price`.",
        ),
        finding(
            FindingKind::SmallCalls,
            Some(2),
            Some(2),
            "jq writes 4 KiB at a time (8 789 calls).",
            "jq has no option for this; it costs about 1 % here.",
        ),
    ];
    record.findings[0].best_time_ns = Some(11_400_000_000);
    record.what_if = Some(predicted(11_590_000_000, "jq"));
    record.timeline = timeline(&record, 48);
    record
}

/// What a replay that takes so long predicts about a run of 11.6 s that stage 2 holds back.
pub(crate) fn predicted(replayed_ns: u64, stage: &str) -> WhatIfRecord {
    let limit = |kind, number, text: &str| {
        let mut limit = LimitRecord::default();
        (limit.kind, limit.stage, limit.text) = (kind, number, text.to_owned());
        limit
    };
    let prediction = |kind, what: &str, elapsed_ns, limit| {
        let mut one = PredictionRecord::default();
        (one.change.kind, one.text) = (kind, format!("{stage} {what}"));
        one.change.stage = Some(2);
        (one.elapsed_ns, one.limit) = (elapsed_ns, limit);
        one
    };
    let still = || limit(LimitKind::Stage, Some(2), stage);
    let mut what_if = WhatIfRecord::default();
    what_if.replayed_ns = replayed_ns;
    what_if.limit = still();
    what_if.predictions = vec![
        prediction(
            ChangeKind::InfinitelyFast,
            "infinitely fast",
            930_000_000,
            limit(LimitKind::Stage, Some(3), "sort"),
        ),
        prediction(ChangeKind::TwiceAsFast, "twice as fast", 5_840_000_000, still()),
        prediction(
            ChangeKind::OnTwoCpus,
            "dealt out to two CPUs",
            6_160_000_000,
            limit(LimitKind::Cpus, None, "the number of CPUs"),
        ),
        prediction(ChangeKind::Cpus, "on 4 CPUs", 11_590_000_000, still()),
    ];
    what_if
}

/// Two neighbours that wait for each other; one pipe was grown and kept, one put back, one refused.
pub(crate) fn taking_turns() -> RunRecord {
    let life = 6_200_000_000;
    let mut record =
        run("tar c src | zstd -1 | ssh backup 'cat > src.tar.zst'", life, 3_600_000_000);
    record.exit_status = Some(141);
    record.overlap_percent = Some(18.0);
    record.stages = vec![
        stage(1, "tar c src", life, [41.0, 2.0, 0.0, 36.0, 21.0], (1_900_000_000, 1_920_000_000)),
        stage(2, "zstd -1", life, [52.0, 6.5, 38.0, 3.5, 0.0], (1_920_000_000, 610_000_000)),
        stage(
            3,
            "ssh backup cat > src.tar.zst",
            life,
            [22.0, 1.0, 70.0, 0.0, 7.0],
            (610_000_000, 0),
        ),
    ];
    record.stages[0].exit_status = Some(141);
    record.stages[1].exit_status = Some(2);
    record.pipes = vec![pipe(1, 1, 2, (36.0, 38.0), life), pipe(2, 2, 3, (3.5, 70.0), life)];
    record.pipes[0].capacity_bytes = Some(1 << 20);
    let change = |pipe, at_ns, to_bytes, outcome, reason: &str| {
        TuningRecord::new(pipe, at_ns, 65536, to_bytes, outcome).with_reason(reason)
    };
    record.tuning = vec![
        change(
            1,
            400_000_000,
            1 << 20,
            Outcome::Kept,
            "both sides waited less: 74 % before, 31 % after",
        ),
        change(2, 1_900_000_000, 262_144, Outcome::Reverted, "the blocked share did not fall"),
        change(
            2,
            4_100_000_000,
            4 << 20,
            Outcome::Refused,
            "above /proc/sys/fs/pipe-max-size (1 MiB)",
        ),
    ];
    record.findings = vec![
        finding(
            FindingKind::TakingTurns,
            None,
            Some(1),
            "tar and zstd wait for each other in turn: only 18 % of the time do two stages run at once.",
            "Give the pipe 1 MiB: `fullbore run --pipe-size 1M 'tar c src | zstd -1 | ssh backup'`.",
        ),
        finding(
            FindingKind::SourceBound,
            Some(1),
            None,
            "tar waits for the disk 21 % of the time.",
            "",
        ),
    ];
    record.timeline = timeline(&record, 62);
    record
}

/// Waits whose reason could not be seen, bytes that were spliced, and gaps that say so.
pub(crate) fn unknown() -> RunRecord {
    let life = 3_000_000_000;
    let mut record = run("sudo cat disk.img | pv | gzip", life, 2_900_000_000);
    record.overlap_percent = None;
    record.stages = vec![
        stage(1, "sudo cat disk.img", life, [12.0, 0.0, 0.0, 0.0, 88.0], (0, 0)),
        stage(2, "pv", life, [2.0, 0.0, 10.0, 88.0, 0.0], (0, 0)),
        stage(3, "gzip", life, [96.0, 4.0, 0.0, 0.0, 0.0], (90_000_000, 88_000_000)),
    ];
    for stage in record.stages.iter_mut().take(2) {
        (stage.read_bytes, stage.written_bytes, stage.read_calls, stage.write_calls) =
            (None, None, None, None);
        (stage.exit_status, stage.peak_memory_bytes) = (None, None);
    }
    record.stages[0].blocked_reading_percent = None;
    record.stages[0].blocked_writing_percent = None;
    record.stages[0].blocked_other_causes = BTreeMap::from([(Cause::Unknown, 88.0)]);
    record.stages[2].exit_status = Some(1);
    record.pipes = vec![
        pipe(1, 1, 2, (0.0, 10.0), life),
        pipe(2, 2, 3, (88.0, 0.0), life),
        pipe(3, 3, 9, (0.0, 0.0), life),
    ];
    record.pipes[0].writer_blocked_percent = None;
    record.pipes[0].capacity_bytes = None;
    record.pipes[2].readers.clear();
    record.pipes[2].outside_reader = true;
    record.findings = vec![finding(
        FindingKind::Bottleneck,
        Some(3),
        None,
        "gzip (96 % on a CPU).",
        "Use both CPUs: `pigz -p 2`.",
    )];
    record.incidents = vec![
        Incident::Stalled { stage: Some(1), lasted_ns: 400_000_000 },
        Incident::LeakedEnd {
            pipe: 2,
            waiting_stage: 3,
            holder_stage: None,
            holder_pid: 77,
            holder_command: "sleep 600".into(),
            lasted_ns: 300_000_000,
        },
    ];
    record.gaps = vec![
        "sudo runs as another user: what it waited for could not be seen.".into(),
        "pv moves data by splice, which Linux does not count.".into(),
    ];
    record.timeline = timeline(&record, 30);
    record
}

/// Two hundred stages in one row.
pub(crate) fn many_stages() -> RunRecord {
    let life = 90_000_000_000;
    let mut record = run("generate | …", life, 60_000_000_000);
    record.stages = (1..=200)
        .map(|number| {
            let busy = (3.0 + 30.0 * noise(u64::from(number), 7)).round() / 8.0;
            let shares = if number == 117 {
                [97.0, 2.0, 1.0, 0.0, 0.0]
            } else {
                [busy, 0.1, 60.0 - busy, 39.9, 0.0]
            };
            stage(
                number,
                &format!("filter --step {number} --rules rules/{number:03}.conf"),
                life,
                shares,
                (4_000_000_000, 4_000_000_000),
            )
        })
        .collect();
    record.pipes =
        (1..200).map(|number| pipe(number, number, number + 1, (39.9, 60.0), life)).collect();
    record.stages[60].exit_status = Some(3);
    record.findings =
        vec![finding(FindingKind::Bottleneck, Some(117), None, "filter (97 % on a CPU).", "")];
    record.timeline = timeline(&record, 400);
    record
}

/// Commands that try to break out of a terminal, a page and a script.
pub(crate) fn hostile() -> RunRecord {
    let life = 1_500_000_000;
    let nasty = "printf '\u{1b}]0;owned\u{7}\u{1b}[2J' </script><script>alert(1)</script><!-- \u{202e}evil\n\" onload=\"x";
    let mut record = run(nasty, life, 900_000_000);
    record.stages = vec![
        stage(1, nasty, life, [60.0, 0.0, 0.0, 40.0, 0.0], (1000, 900_000)),
        stage(
            2,
            "日本語コマンド --オプション=とても長い値 é👩‍👩‍👧",
            life,
            [30.0, 0.0, 70.0, 0.0, 0.0],
            (900_000, 12),
        ),
        stage(3, "", life, [1.0, 0.0, 99.0, 0.0, 0.0], (12, 0)),
    ];
    record.pipes = vec![pipe(1, 1, 2, (40.0, 70.0), life), pipe(2, 2, 3, (0.0, 99.0), life)];
    record.pipes[1].path = Some("/tmp/<b>fifo</b>".into());
    record.findings = vec![finding(
        FindingKind::Bottleneck,
        Some(1),
        None,
        &format!("{nasty} (60 % on a CPU)."),
        "run `echo '<img src=x onerror=alert(1)>' | \u{1b}[31mcat`",
    )];
    record.gaps = vec![nasty.into()];
    record.timeline = timeline(&record, 15);
    record
}

/// `tee` into two other commands, fed from outside, one of them writing outside, beside a second pipeline.
pub(crate) fn fan_out() -> RunRecord {
    let life = 8_000_000_000;
    let mut record = run(
        "curl -s host/log | tee >(grep -c error >&2) >(gzip > log.gz) | awk '{print $1}' & du -a / | sort -n > sizes; wait",
        life,
        5_400_000_000,
    );
    record.stages = vec![
        stage(
            1,
            "curl -s host/log",
            life,
            [14.0, 1.0, 0.0, 46.0, 39.0],
            (800_000_000, 790_000_000),
        ),
        stage(
            2,
            "tee /dev/fd/63 /dev/fd/62",
            life,
            [11.0, 2.0, 17.0, 70.0, 0.0],
            (790_000_000, 2_370_000_000),
        ),
        stage(3, "grep -c error", life, [18.0, 1.0, 81.0, 0.0, 0.0], (790_000_000, 6)),
        stage(4, "gzip", life, [66.0, 22.0, 12.0, 0.0, 0.0], (790_000_000, 120_000_000)),
        stage(5, "awk {print $1}", life, [24.0, 6.0, 70.0, 0.0, 0.0], (790_000_000, 140_000_000)),
        stage(6, "du -a /", life / 2, [30.0, 3.0, 0.0, 1.0, 66.0], (0, 30_000_000)),
        stage(7, "sort -n", life / 2, [9.0, 1.0, 90.0, 0.0, 0.0], (30_000_000, 30_000_000)),
    ];
    record.stages[0].blocked_other_causes = BTreeMap::from([(Cause::Network, 39.0)]);
    record.pipes = vec![
        pipe(1, 1, 2, (46.0, 17.0), life),
        pipe(2, 2, 3, (2.0, 81.0), life),
        pipe(3, 2, 4, (64.0, 12.0), life),
        pipe(4, 2, 5, (4.0, 70.0), life),
        pipe(5, 6, 7, (1.0, 90.0), life / 2),
        pipe(6, 0, 1, (0.0, 3.0), life),
        pipe(7, 5, 0, (0.0, 0.0), life),
    ];
    record.pipes[5].writers.clear();
    record.pipes[5].outside_writer = true;
    record.pipes[6].readers.clear();
    record.pipes[6].outside_reader = true;
    record.findings = vec![
        finding(
            FindingKind::Bottleneck,
            Some(4),
            None,
            "gzip (66 % on a CPU; tee waits for it 64 % of the time).",
            "Replace gzip by a program that uses both CPUs: `pigz -p 2`.",
        ),
        finding(
            FindingKind::CpuStarved,
            Some(4),
            None,
            "gzip waits for a CPU 22 % of the time: 5 stages want to run on 2 CPUs.",
            "",
        ),
        finding(
            FindingKind::SourceBound,
            Some(1),
            None,
            "curl waits for the network 39 % of the time.",
            "",
        ),
    ];
    record.timeline = timeline(&record, 80);
    let half = record.timeline.stages[5].running.len() / 2;
    for line in record.timeline.stages.iter_mut().skip(5) {
        for series in [
            &mut line.running,
            &mut line.runnable,
            &mut line.blocked_reading,
            &mut line.blocked_writing,
            &mut line.blocked_other,
        ] {
            series[half..].fill(0.0);
        }
        line.read_bytes[half..].fill(0);
        line.written_bytes[half..].fill(0);
    }
    record
}
