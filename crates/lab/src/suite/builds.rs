//! Two builds of fullbore beside each other.

use super::{Case, Engine, Run, Suite};

/// What stands in a line for the program that measures …
const THIS: &str = "{fullbore}";
/// … and for the other one.
const OTHER: &str = "{fullbore_before}";

/// Ends the name of an engine that runs the other build; no name in a suite file has a dot.
pub const BEFORE: &str = ".before";

impl Suite {
    /// Keeps the engines that run fullbore as a program, each with the same one of another build, `{fullbore_before}`,
    /// in front of it; cases without such an engine go.
    pub fn pair_builds(&mut self) {
        for case in &mut self.cases {
            case.engines = std::mem::take(&mut case.engines).into_iter().flat_map(pair).collect();
            if let Some(first) = case.engines.first() {
                case.baseline.clone_from(&first.name);
            }
        }
        self.cases.retain(|case: &Case| !case.engines.is_empty());
    }
}

/// The other build and this one; nothing for another program.
fn pair(engine: Engine) -> Vec<Engine> {
    let in_other = |text: &String| text.replace(THIS, OTHER);
    let run = match &engine.run {
        Run::Words(words) => Run::Words(words.iter().map(in_other).collect()),
        Run::Line(line) => Run::Line(in_other(line)),
        Run::Builtin { .. } => return Vec::new(),
    };
    if run == engine.run {
        return Vec::new();
    }
    let before = Engine {
        name: format!("{}{BEFORE}", engine.name),
        label: format!("{}, before", engine.label),
        run,
        ..engine.clone()
    };
    vec![before, engine]
}
