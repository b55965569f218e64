//! Text of a suite file → [`Suite`], or the line with the mistake and what was expected there.

mod engine;
mod mistake;

use std::fmt;

use toml::Spanned;

use self::engine::{check_engines, needs, read_engine};
use self::mistake::{Mistake, check_name, check_placeholders};
use super::expand::{expand, parameter, product};
use super::text::{AnswerKind, CaseText, ChartKind, EngineText, SuiteText, Table, Values};
use super::{Answer, Axis, Case, Chart, Engine, Need, Quantity, Run, Suite, points};
use crate::{Parameter, Parameters, engines};

/// A mistake in a suite file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteError {
    /// The file, as it was named.
    pub file: String,
    /// The line with the mistake, from 1.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for SuiteError {}

/// Reads the text of a suite; `file` is named in errors.
///
/// # Errors
/// The first mistake, with its line.
pub fn read(name: &str, file: &str, text: &str) -> Result<Suite, SuiteError> {
    let error = |(span, message): Mistake| {
        let before = text.get(..span.start).unwrap_or(text);
        SuiteError { file: file.to_owned(), line: before.matches('\n').count() + 1, message }
    };
    let parsed: SuiteText = toml::from_str(text).map_err(|wrong| {
        // An error without a place is about the end of the file.
        error((wrong.span().unwrap_or(text.len()..text.len()), one_line(wrong.message())))
    })?;
    if parsed.cases.is_empty() {
        return Err(error((0..0, "no [[case]]: a suite has at least one".to_owned())));
    }
    let needs = needs(&parsed.needs).map_err(error)?;
    let mut cases: Vec<Case> = Vec::new();
    for case in parsed.cases {
        let case = read_case(case, &needs).map_err(error)?;
        cases.push(case);
    }
    for (place, case) in cases.iter().enumerate() {
        if cases[..place].iter().any(|earlier| earlier.name == case.name) {
            let at = text.rfind(&format!("\"{}\"", case.name)).unwrap_or(0);
            return Err(error((at..at, format!("a second case named '{}'", case.name))));
        }
    }
    let (name, word) = (name.to_owned(), name.to_owned());
    Ok(Suite { name, word, is_whole: true, about: parsed.about, cases })
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read_case(case: Spanned<CaseText>, needs_of_suite: &[Need]) -> Result<Case, Mistake> {
    let span = case.span();
    let case = case.into_inner();
    check_name(&case.name)?;
    let quantity = quantity(&case.show)?;
    let sweep = axes(&case.sweep)?;
    let fixed = fixed(&case.fixed, &sweep)?;
    let (quick_sweep, quick_fixed) = quick(&case.quick, &sweep, &fixed)?;
    let chart = chart(&case, &sweep)?;
    let mut needs_of_case = needs_of_suite.to_vec();
    needs_of_case.extend(needs(&case.needs)?);
    let names = names(&sweep, &fixed);
    check_texts(&case, &names)?;
    if case.engines.is_empty() {
        return Err((span, "no [[case.engine]]: a case has at least one".to_owned()));
    }
    check_engines(&case)?;
    let engines: Vec<Engine> = case
        .engines
        .iter()
        .map(|engine| read_engine(engine, &needs_of_case, &names))
        .collect::<Result<_, _>>()?;
    check_amount(&case, &quantity, &engines)?;
    check_use(&case, &names)?;
    let baseline = baseline(&case, &engines)?;
    Ok(Case {
        name: case.name.into_inner(),
        title: case.title,
        about: one_line(&case.about),
        quantity,
        ratio: case.ratio,
        chart,
        sweep,
        quick_sweep,
        fixed,
        quick_fixed,
        setup: case.setup.into_iter().map(Spanned::into_inner).collect(),
        bytes: case.bytes.map(Spanned::into_inner),
        operations: case.operations.map(Spanned::into_inner),
        answer: answer(case.answer, case.expect)?,
        answer_from: case.answer_from,
        sink: case.sink,
        time_from: case.time_from,
        columns: case.columns,
        baseline,
        engines,
    })
}

/// What a placeholder may stand for: the parameters of the first point, and what every run has.
fn names(sweep: &[Axis], fixed: &Parameters) -> Parameters {
    let mut names = points(sweep, fixed).into_iter().next().unwrap_or_default();
    for known in ["dir", "fullbore"] {
        names.0.insert(known.to_owned(), Parameter::Text(known.to_owned()));
    }
    names.0.insert("cpus".to_owned(), Parameter::Number(1));
    names
}

/// Every placeholder outside of what engines run stands for something, and every product is one.
fn check_texts(case: &CaseText, names: &Parameters) -> Result<(), Mistake> {
    let of_engines = case.engines.iter().flat_map(|engine| &engine.get_ref().needs);
    for need in case.needs.iter().chain(of_engines) {
        if let Some(line) = &need.get_ref().check {
            check_placeholders(line, names, need.span())?;
        }
    }
    for text in case.setup.iter().chain(&case.expect) {
        check_placeholders(text.get_ref(), names, text.span())?;
    }
    let of_engines = case.engines.iter().map(Spanned::get_ref);
    let of_engines = of_engines.flat_map(|engine| engine.bytes.iter().chain(&engine.operations));
    for text in case.bytes.iter().chain(&case.operations).chain(of_engines) {
        let filled =
            expand(text.get_ref(), names).map_err(|unknown| (text.span(), unknown.to_string()))?;
        product(&filled).map_err(|wrong| (text.span(), wrong))?;
    }
    Ok(())
}

fn quantity(show: &Spanned<String>) -> Result<Quantity, Mistake> {
    Ok(match show.get_ref().as_str() {
        "bytes/s" => Quantity::BytesPerSecond,
        "ops/s" => Quantity::OperationsPerSecond,
        "latency" => Quantity::LatencyNs,
        "seconds" => Quantity::Seconds,
        "ns/op" => Quantity::NsPerOperation,
        other => match other.strip_prefix("counter:") {
            Some(name) if !name.is_empty() => Quantity::Counter(name.to_owned()),
            _ => {
                let known = "bytes/s, ops/s, latency, seconds, ns/op or counter:NAME";
                return Err((show.span(), format!("show = '{other}': expected {known}")));
            }
        },
    })
}

/// The entries of a table in the order of the file.
fn in_order(table: &Table) -> Vec<(&Spanned<String>, &Spanned<Values>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

fn is_size(value: &Parameter) -> bool {
    matches!(value, Parameter::Text(text) if matches!(parameter(Parameter::Text(text.clone())), Parameter::Number(_)))
}

/// One value written as a size makes sizes of the plain numbers beside it: `[64, "4K"]`.
fn axis(name: &str, values: &[Parameter]) -> Axis {
    let is_number = |value: &Parameter| matches!(value, Parameter::Number(_)) || is_size(value);
    Axis {
        name: name.to_owned(),
        is_size: values.iter().any(is_size) && values.iter().all(is_number),
        values: values.iter().cloned().map(parameter).collect(),
    }
}

fn axes(table: &Table) -> Result<Vec<Axis>, Mistake> {
    let mut axes = Vec::new();
    for (name, values) in in_order(table) {
        match values.get_ref() {
            Values::Many(list) if !list.is_empty() => axes.push(axis(name.get_ref(), list)),
            _ => {
                let message = format!("sweep.{}: expected a list of values", name.get_ref());
                return Err((values.span(), message));
            }
        }
    }
    Ok(axes)
}

fn fixed(table: &Table, sweep: &[Axis]) -> Result<Parameters, Mistake> {
    let mut fixed = Parameters::default();
    for (name, values) in in_order(table) {
        let Values::One(value) = values.get_ref() else {
            let message =
                format!("fixed.{}: expected one value; a list belongs into sweep", name.get_ref());
            return Err((values.span(), message));
        };
        if sweep.iter().any(|axis| axis.name == *name.get_ref()) {
            return Err((name.span(), format!("'{}' is both swept and fixed", name.get_ref())));
        }
        fixed.0.insert(name.get_ref().clone(), parameter(value.clone()));
    }
    Ok(fixed)
}

/// What `--quick` changes.
fn quick(
    table: &Table,
    sweep: &[Axis],
    fixed: &Parameters,
) -> Result<(Vec<Axis>, Parameters), Mistake> {
    let (mut quick_sweep, mut quick_fixed) = (sweep.to_vec(), fixed.clone());
    for (name, values) in in_order(table) {
        let of_sweep = quick_sweep.iter_mut().find(|axis| axis.name == *name.get_ref());
        match (of_sweep, values.get_ref()) {
            (Some(axis), Values::Many(list)) if !list.is_empty() => {
                axis.values = list.iter().cloned().map(parameter).collect();
            }
            (Some(axis), Values::One(value)) => axis.values = vec![parameter(value.clone())],
            (None, Values::One(value)) if fixed.0.contains_key(name.get_ref()) => {
                quick_fixed.0.insert(name.get_ref().clone(), parameter(value.clone()));
            }
            (None, Values::Many(_)) if fixed.0.contains_key(name.get_ref()) => {
                return Err((
                    values.span(),
                    format!("quick.{}: expected one value", name.get_ref()),
                ));
            }
            (Some(_), Values::Many(_)) => {
                return Err((
                    values.span(),
                    format!("quick.{}: expected at least one value", name.get_ref()),
                ));
            }
            (None, _) => {
                let message = format!("'{}' is neither in sweep nor in fixed", name.get_ref());
                return Err((name.span(), message));
            }
        }
    }
    Ok((quick_sweep, quick_fixed))
}

fn chart(case: &CaseText, sweep: &[Axis]) -> Result<Chart, Mistake> {
    let axis = |given: &Option<Spanned<String>>, name: &str| match given {
        Some(parameter) if sweep.iter().any(|axis| axis.name == *parameter.get_ref()) => {
            Ok(parameter.get_ref().clone())
        }
        Some(parameter) => Err((
            parameter.span(),
            format!("{name} = '{}': no parameter of sweep", parameter.get_ref()),
        )),
        None => Err((case.name.span(), format!("this chart needs {name}, a parameter of sweep"))),
    };
    Ok(match case.chart {
        ChartKind::Bars => Chart::Bars,
        ChartKind::Lines => Chart::Lines { x: axis(&case.x, "x")?, caches: case.caches },
        ChartKind::Heat => Chart::Heat { x: axis(&case.x, "x")?, y: axis(&case.y, "y")? },
    })
}

fn answer(
    kind: Option<Spanned<AnswerKind>>,
    expected: Option<Spanned<String>>,
) -> Result<Answer, Mistake> {
    Ok(match (kind, expected) {
        (Some(kind), Some(_)) => {
            return Err((kind.span(), "answer and expect exclude each other".to_owned()));
        }
        (_, Some(expected)) => Answer::Literal(expected.into_inner()),
        (Some(kind), None) if *kind.get_ref() == AnswerKind::Same => Answer::Same,
        _ => Answer::Unchecked,
    })
}

/// A parameter that nothing in its case uses is a slip of the pen.
fn check_use(case: &CaseText, names: &Parameters) -> Result<(), Mistake> {
    let takes = |builtin: &Option<Spanned<String>>, name: &str| {
        let engine = builtin.as_ref().and_then(|builtin| engines::find(builtin.get_ref()).ok());
        engine.is_some_and(|engine| engine.parameters.iter().any(|spec| spec.name == name))
    };
    let is_used = |name: &str| {
        let placeholder = format!("{{{name}}}");
        let in_case =
            case.setup.iter().chain(&case.bytes).chain(&case.operations).chain(&case.expect);
        let in_engine = |engine: &Spanned<EngineText>| {
            let engine = engine.get_ref();
            let words = engine.argv.iter().flat_map(|words| words.get_ref());
            let lines = engine.shell.iter().map(Spanned::get_ref);
            takes(&engine.builtin, name)
                || words.chain(lines).any(|text| text.contains(&placeholder))
        };
        in_case.map(Spanned::get_ref).any(|text| text.contains(&placeholder))
            || case.engines.iter().any(in_engine)
    };
    for name in case.sweep.keys().chain(case.fixed.keys()) {
        if names.0.contains_key(name.get_ref()) && !is_used(name.get_ref()) {
            return Err((name.span(), format!("no engine of this case uses '{}'", name.get_ref())));
        }
    }
    Ok(())
}

/// Rates of programs can only be told when the case says how much they move.
fn check_amount(case: &CaseText, quantity: &Quantity, engines: &[Engine]) -> Result<(), Mistake> {
    let programs = engines.iter().filter(|engine| !matches!(engine.run, Run::Builtin { .. }));
    let programs: Vec<&Engine> = programs.collect();
    if programs.is_empty() {
        return Ok(());
    }
    let has_bytes = case.bytes.is_some() || programs.iter().all(|engine| engine.bytes.is_some());
    let has_operations =
        case.operations.is_some() || programs.iter().all(|engine| engine.operations.is_some());
    let missing = match quantity {
        Quantity::BytesPerSecond if !has_bytes => "bytes",
        Quantity::OperationsPerSecond | Quantity::NsPerOperation if !has_operations => "operations",
        Quantity::LatencyNs | Quantity::Counter(_) => {
            let message = "only built-in engines can show this; a program can show bytes/s, ops/s, seconds or ns/op";
            return Err((case.show.span(), message.to_owned()));
        }
        _ => return Ok(()),
    };
    Err((
        case.show.span(),
        format!("a program's share in this needs {missing} = \"…\" in the case"),
    ))
}

fn baseline(case: &CaseText, engines: &[Engine]) -> Result<String, Mistake> {
    let Some(baseline) = &case.baseline else {
        return Ok(engines[0].name.clone());
    };
    if engines.iter().any(|engine| engine.name == *baseline.get_ref()) {
        return Ok(baseline.get_ref().clone());
    }
    let known = engines.iter().map(|engine| engine.name.as_str()).collect::<Vec<_>>().join(", ");
    let message =
        format!("baseline = '{}': no such engine; expected one of {known}", baseline.get_ref());
    Err((baseline.span(), message))
}
