//! The engines of a case, and what they need.

use toml::Spanned;

use super::super::expand::{filled, parameter};
use super::super::text::{CaseText, EngineText, NeedText};
use super::super::{Engine, Need, Run};
use super::mistake::{Mistake, check_name, check_placeholders};
use crate::{Parameters, engines};

/// No two engines of one name.
pub(super) fn check_engines(case: &CaseText) -> Result<(), Mistake> {
    for (place, engine) in case.engines.iter().enumerate() {
        let name = &engine.get_ref().name;
        check_name(name)?;
        if case.engines[..place].iter().any(|e| e.get_ref().name.get_ref() == name.get_ref()) {
            return Err((name.span(), format!("a second engine named '{}'", name.get_ref())));
        }
    }
    Ok(())
}

pub(super) fn read_engine(
    engine: &Spanned<EngineText>,
    needs_of_case: &[Need],
    names: &Parameters,
) -> Result<Engine, Mistake> {
    let text = engine.get_ref();
    let own = |text: &EngineText| -> Parameters {
        Parameters(
            text.parameters
                .iter()
                .map(|(name, value)| (name.clone(), parameter(value.get_ref().clone())))
                .collect(),
        )
    };
    let run = match (&text.builtin, &text.argv, &text.shell) {
        (Some(builtin), None, None) => {
            let parameters = own(text);
            check_builtin(builtin, &parameters, names)?;
            Run::Builtin { engine: builtin.get_ref().clone(), parameters }
        }
        (None, Some(words), None) if !words.get_ref().is_empty() => {
            for word in words.get_ref() {
                check_placeholders(word, &with(names, &own(text)), words.span())?;
            }
            Run::Words(words.get_ref().clone())
        }
        (None, None, Some(line)) => {
            check_placeholders(line.get_ref(), &with(names, &own(text)), line.span())?;
            Run::Line(line.get_ref().clone())
        }
        _ => {
            let message = "expected exactly one of builtin, argv (at least one word) and shell";
            return Err((text.name.span(), message.to_owned()));
        }
    };
    if let (false, Some(value)) = (text.builtin.is_some(), text.parameters.values().next()) {
        return Err((value.span(), "parameters belong to a builtin engine".to_owned()));
    }
    let mut needs = needs(&text.needs)?;
    needs.extend_from_slice(needs_of_case);
    needs.sort();
    needs.dedup();
    let name = text.name.get_ref().clone();
    Ok(Engine {
        label: text.label.clone().unwrap_or_else(|| name.clone()),
        name,
        marks: text.marks.clone(),
        is_unchecked: text.unchecked,
        not_quick: text.not_quick.clone(),
        bytes: text.bytes.clone().map(Spanned::into_inner),
        operations: text.operations.clone().map(Spanned::into_inner),
        published: text.published.clone(),
        run,
        needs,
    })
}

/// A built-in engine must be there, and understand what it is told at the first point.
fn check_builtin(
    builtin: &Spanned<String>,
    own: &Parameters,
    names: &Parameters,
) -> Result<(), Mistake> {
    let wrong = |error: crate::EngineError| (builtin.span(), error.to_string());
    let engine = engines::find(builtin.get_ref()).map_err(wrong)?;
    let own = &filled(own, names).map_err(|unknown| (builtin.span(), unknown.to_string()))?;
    engine.complete(own).map_err(wrong)?;
    engine.complete(&engine.told(names, own)).map(drop).map_err(wrong)
}

fn with(names: &Parameters, own: &Parameters) -> Parameters {
    let mut all = names.clone();
    all.0.extend(own.0.clone());
    all
}

pub(super) fn needs(texts: &[Spanned<NeedText>]) -> Result<Vec<Need>, Mistake> {
    texts.iter().map(need).collect()
}

fn need(text: &Spanned<NeedText>) -> Result<Need, Mistake> {
    let wrong = |message: &str| (text.span(), message.to_owned());
    let given = text.get_ref().clone();
    match (given.program, given.root, given.cpus, given.check) {
        (Some(name), None, None, None) => {
            let install = given.install.unwrap_or_else(|| format!("apt-get install {name}"));
            Ok(Need::Program { name, install })
        }
        (None, Some(true), None, None) => Ok(Need::Root),
        (None, None, Some(cpus), None) => Ok(Need::Cpus(cpus)),
        (None, None, None, Some(line)) => match (given.what, given.install) {
            (Some(what), Some(install)) => Ok(Need::Check { line, what, install }),
            _ => Err(wrong("check needs what = \"what is missing\" and install = \"what to do\"")),
        },
        _ => Err(wrong("expected exactly one of program, root = true, cpus and check")),
    }
}
