//! Real programs replaced by faster ones, beside what `what-if --faster` predicts of it.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use fullbore_measure::median;
use fullbore_record::RunRecord;
use fullbore_what_if::{Change, Speed, forecast_with};

use crate::Effort;
use crate::sandbox::{Sandbox, fullbore, is_installed, path_with_ours};
use crate::table::{Outcome, Row};
use crate::what_if::undisturbed;

/// A prediction may be wrong by so much, in percent of the measured time.
const BAR_PERCENT: f64 = 15.0;
/// So often everything is measured; the round with the median error counts.
const RUNS: usize = 3;
/// A run counts only if other programs took no more of the CPUs, in percent; Linux counts ticks of 10 ms, so that some percent of
/// a short run say nothing.
const OTHERS_PERCENT: f64 = 12.0;
/// The locale of most people's terminals.
const LOCALE: &str = "en_US.UTF-8";

/// Stages before, the stage, what replaces it, stages behind. `{fullbore}` is our program.
type Swap = (&'static str, &'static str, &'static str, &'static str);

/// Lines over `text` (source code), `part` (a fifth of it), `words` (a word a line), `events` (JSON), and compressed ones.
const SWAPS: &[Swap] = &[
    ("cat part part | tr a-z A-Z", "gzip", "pigz", "wc -c"),
    ("cat text", "gzip", "igzip -2", "sha256sum"),
    ("cat part | sed -E 's/([0-9]+)/<\\1>/g'", "gzip -9", "gzip -1", "wc -c"),
    ("cat part", "bzip2", "lbzip2", "md5sum"),
    ("tac part", "bzip2", "pbzip2", "wc -c"),
    ("cat part", "xz -2", "xz -2 -T2 --block-size=2MiB", "wc -c"),
    ("cat part part", "xz -1", "zstd -q -3", "sha256sum"),
    ("cat part", "zstd -q -12", "zstd -q -6", "wc -c"),
    ("cat text.gz text.gz", "gzip -dc", "pigz -dc", "sha1sum"),
    ("cat text.gz text.gz text.gz", "gzip -dc", "igzip -dc", "sha256sum"),
    ("cat part.bz2 part.bz2", "bzip2 -dc", "lbzip2 -dc", "wc -l"),
    ("cat words", "sort", "env LC_ALL=C sort", "uniq -c | sort -rn | head -3"),
    ("tr A-Z a-z <words", "sort", "env LC_ALL=C sort", "gzip -1 | wc -c"),
    (
        "cat text text",
        "grep -iE 'err(or)?|warn'",
        "env LC_ALL=C grep -iE 'err(or)?|warn'",
        "sort | tail -1",
    ),
    ("cat text text text text text", "grep -iE 'err(or)?|warn'", "rg -i 'err(or)?|warn'", "wc -l"),
    (
        "cat words words words",
        "gawk '{ n[$1]++ } END { for (k in n) print n[k], k }'",
        "mawk '{ n[$1]++ } END { for (k in n) print n[k], k }'",
        "sort -rn | head -3",
    ),
    ("cat part part", "original-awk '{ print $2 }'", "mawk '{ print $2 }'", "gzip -1 | wc -c"),
    (
        "cat part part",
        "sed -E 's/([0-9]+)/<\\1>/g'",
        "perl -pe 's/([0-9]+)/<$1>/g'",
        "gzip -1 | wc -c",
    ),
    (
        "cat part part",
        "sed -E 's/([0-9]+)/<\\1>/g'",
        "env LC_ALL=C sed -E 's/([0-9]+)/<\\1>/g'",
        "wc -c",
    ),
    ("cat events", "jq -c .user.id", "gojq -c .user.id", "sort | uniq -c | sort -rn | head -3"),
    ("cat events", "jq -c .user.id", "jaq -c .user.id", "sort | uniq -c | sort -rn | head -3"),
    ("cat events", "jq -c .user.id", "{fullbore} par --auto jq -c .user.id", "wc -l"),
    ("cat text text text", "wc -w", "env LC_ALL=C wc -w", "cat"),
    ("gzip -dc text.gz text.gz", "sha512sum", "b3sum --num-threads 1", "cat"),
    ("cat part part", "base64", "openssl base64", "gzip -1 | wc -c"),
    (
        "cat text text text",
        "tr -cs A-Za-z '\\n'",
        "{fullbore} par --auto tr -cs A-Za-z '\\n'",
        "wc -l",
    ),
];

/// What was predicted and measured of one swap.
struct Swapped {
    swap: Swap,
    /// In the order of their errors.
    rounds: Vec<Round>,
}

/// One measurement of a swap.
#[derive(Clone, Copy, Debug)]
struct Round {
    before_ns: f64,
    /// How many times as fast the other program is alone.
    times: f64,
    predicted_ns: f64,
    measured_ns: f64,
}

/// Errors of the predictions.
pub(crate) fn predictions(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    make(&place, effort);
    let locale = if place.path("locales").join(LOCALE).is_dir() { LOCALE } else { "C.UTF-8" };
    let mut notes = vec![format!("locale of the commands: {locale}")];
    let mut all = Vec::new();
    for swap in effort.part_of(SWAPS.to_vec()) {
        let program = swap.2.split(' ').find(|word| *word != "env" && !word.contains('='));
        let missing = [swap.1.split(' ').next(), program].into_iter().flatten();
        let missing = missing.filter(|name| *name != "{fullbore}").find(|name| !is_installed(name));
        if let Some(missing) = missing {
            notes.push(format!("left out: `{}` ({missing} is not installed)", swap.2));
            continue;
        }
        match measure(&place, swap, effort.times(1, RUNS)) {
            Some(one) => {
                println!("   {}", one.text());
                all.push(one);
            }
            None => notes.push(format!("left out: `{}` (other programs were busy)", swap.2)),
        }
    }
    rows(&all, notes)
}

fn measure(place: &Sandbox, swap: Swap, runs: usize) -> Option<Swapped> {
    let (before, slow, fast, behind) = swap;
    let mut feed = shell(place, before);
    feed.stdout(fs::File::create(place.path("input")).unwrap());
    assert!(feed.status().unwrap().success(), "{before}");
    let with = |stage: &str| {
        let line = format!("{before} | {stage} | {behind}");
        let mut command = place.reporting(&["--no-tune"], &line);
        with_locale(place, command.env("PATH", path_with_ours()));
        command
    };
    // A machine with neighbours is slower for some seconds: what is compared was measured just before.
    let mut rounds = Vec::new();
    for _ in 0..runs {
        let record = undisturbed(place, OTHERS_PERCENT, || with(slow))?;
        let measured = undisturbed(place, OTHERS_PERCENT, || with(fast))?;
        let times = alone(place, slow) / alone(place, fast);
        let change = Change::Faster(vec![Speed::new(number_of(&record, slow)?, times)?]);
        let predicted = forecast_with(&record, vec![change]).ok()?;
        keep(&record, swap, rounds.len(), times, measured.elapsed_ns);
        rounds.push(Round {
            before_ns: record.elapsed_ns as f64,
            times,
            predicted_ns: predicted.predictions.first()?.elapsed_ns as f64,
            measured_ns: measured.elapsed_ns as f64,
        });
    }
    rounds.sort_by(|one, two| one.error_percent().total_cmp(&two.error_percent()));
    Some(Swapped { swap, rounds })
}

/// The number of the stage that runs the program of a command.
fn number_of(record: &RunRecord, command: &str) -> Option<u32> {
    let program = command.split(' ').next()?;
    let runs_it = |words: &[String]| words.first().is_some_and(|word| word.ends_with(program));
    record.stages.iter().find(|stage| runs_it(&stage.words)).map(|stage| stage.stage)
}

/// How long a stage takes alone, in seconds. It reads and writes pipes, because some programs work otherwise with files: `rg` maps
/// them into memory, `jaq` writes in larger pieces.
fn alone(place: &Sandbox, stage: &str) -> f64 {
    let mut command = shell(place, &format!("cat input | {stage} | cat >/dev/null"));
    let started = Instant::now();
    command.status().unwrap();
    started.elapsed().as_secs_f64()
}

fn shell(place: &Sandbox, line: &str) -> Command {
    let mut command = place.command("sh");
    let line = line.replace("{fullbore}", fullbore().to_str().unwrap());
    command.args(["-c", &line]).env("PATH", path_with_ours()).stdout(Stdio::null());
    with_locale(place, &mut command);
    command
}

/// The locale of most people's terminals, made for this place if it can be: what it costs is what `LC_ALL=C` saves.
fn with_locale(place: &Sandbox, command: &mut Command) {
    if place.path("locales").join(LOCALE).is_dir() {
        command.env("LOCPATH", place.path("locales")).env("LC_ALL", LOCALE);
    } else {
        command.env("LC_ALL", "C.UTF-8");
    }
}

fn make(place: &Sandbox, effort: Effort) {
    let megabytes = effort.pick(2, 120);
    crate::par::code(place, "text", megabytes);
    crate::par::code(place, "part", (megabytes / 5).max(1));
    let rows = effort.pick("3000", "200000");
    let locale = format!("mkdir locales; localedef -i en_US -f UTF-8 locales/{LOCALE} 2>/dev/null");
    let _ = shell(place, &locale).status().unwrap();
    let line = format!(
        "tr -cs A-Za-z '\\n' <part >words; gzip -6 <text >text.gz; bzip2 <part >part.bz2; \
         {{fullbore}} gen jsonl --rows {rows} >events"
    );
    assert!(shell(place, &line).status().unwrap().success());
}

/// Leaves the record and what was measured, for whoever wants to look into an error.
fn keep(record: &RunRecord, swap: Swap, round: usize, times: f64, measured_ns: u64) {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("swaps");
    fs::create_dir_all(&folder).unwrap();
    let number = SWAPS.iter().position(|one| *one == swap).unwrap_or(SWAPS.len());
    let record = serde_json::to_string(record).unwrap();
    fs::write(folder.join(format!("{number}-{round}.json")), record).unwrap();
    let line = format!("{}\t{}\t{times}\t{measured_ns}\n", swap.1, swap.2);
    fs::write(folder.join(format!("{number}-{round}.tsv")), line).unwrap();
}

impl Round {
    fn error_percent(&self) -> f64 {
        100.0 * (self.predicted_ns / self.measured_ns - 1.0)
    }
}

impl Swapped {
    /// The round with the median error.
    fn middle(&self) -> &Round {
        &self.rounds[self.rounds.len() / 2]
    }

    fn error_percent(&self) -> f64 {
        self.middle().error_percent()
    }

    fn text(&self) -> String {
        let (before, slow, fast, behind) = self.swap;
        let seconds = |ns: f64| format!("{:.2} s", ns / 1e9);
        let Round { before_ns, times, predicted_ns, measured_ns } = *self.middle();
        let error = |round: &Round| format!("{:+.1}", round.error_percent());
        let errors: Vec<String> = self.rounds.iter().map(error).collect();
        format!(
            "{:+.1} % ({}): `{before} | {slow} | {behind}` {}; `{}` alone is {times:.2} times as fast: predicted {}, measured {}",
            self.error_percent(),
            errors.join(", "),
            seconds(before_ns),
            fast.replace("{fullbore}", "fullbore"),
            seconds(predicted_ns),
            seconds(measured_ns),
        )
    }
}

fn rows(all: &[Swapped], mut notes: Vec<String>) -> Vec<Row> {
    let is_met = |one: &&Swapped| one.error_percent().abs() <= BAR_PERCENT;
    let met = all.iter().filter(is_met).count();
    let errors: Vec<f64> = all.iter().map(|one| one.error_percent().abs()).collect();
    notes.extend(all.iter().map(Swapped::text));
    vec![Row {
        claim: format!(
            "{} programs replaced by faster ones: error of predicted ÷ measured (median {:.1} %)",
            all.len(),
            median(&errors).unwrap_or(f64::NAN)
        ),
        bar: format!("≤ {BAR_PERCENT} % each"),
        measured: format!("{met} of {}", all.len()),
        outcome: Outcome::met_if(met == all.len()),
        command: "fullbore run --no-tune --report run.json LINE; fullbore what-if --faster STAGE=FACTOR run.json; the LINE with the other program"
            .to_owned(),
        notes,
    }]
}
