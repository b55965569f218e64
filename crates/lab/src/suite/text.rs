//! A suite file as it is written: the same words as in the file, with the places where they stand.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::{AnswerFrom, RatioStyle, Sink, TimeFrom};
use crate::Parameter;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SuiteText {
    pub(super) about: String,
    #[serde(default)]
    pub(super) needs: Vec<Spanned<NeedText>>,
    #[serde(default, rename = "case")]
    pub(super) cases: Vec<Spanned<CaseText>>,
}

/// Parameters, in the order in which they are written once their places are looked at.
pub(super) type Table = BTreeMap<Spanned<String>, Spanned<Values>>;

/// `[[case]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseText {
    pub(super) name: Spanned<String>,
    pub(super) title: String,
    #[serde(default)]
    pub(super) about: String,
    pub(super) show: Spanned<String>,
    #[serde(default)]
    pub(super) ratio: RatioStyle,
    #[serde(default)]
    pub(super) chart: ChartKind,
    pub(super) x: Option<Spanned<String>>,
    pub(super) y: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) caches: bool,
    pub(super) baseline: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) sweep: Table,
    #[serde(default)]
    pub(super) fixed: Table,
    #[serde(default)]
    pub(super) quick: Table,
    #[serde(default)]
    pub(super) setup: Vec<Spanned<String>>,
    pub(super) bytes: Option<Spanned<String>>,
    pub(super) operations: Option<Spanned<String>>,
    pub(super) answer: Option<Spanned<AnswerKind>>,
    pub(super) expect: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) answer_from: AnswerFrom,
    #[serde(default)]
    pub(super) sink: Sink,
    #[serde(default)]
    pub(super) time_from: TimeFrom,
    #[serde(default)]
    pub(super) columns: Vec<String>,
    #[serde(default)]
    pub(super) needs: Vec<Spanned<NeedText>>,
    #[serde(default, rename = "engine")]
    pub(super) engines: Vec<Spanned<EngineText>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChartKind {
    #[default]
    Bars,
    Lines,
    Heat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AnswerKind {
    Same,
    Unchecked,
}

/// One value or a list of them.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a whole number, a size such as \"64K\", a text, true, false, or a list of these"
)]
pub(super) enum Values {
    One(Parameter),
    Many(Vec<Parameter>),
}

/// `[[case.engine]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EngineText {
    pub(super) name: Spanned<String>,
    pub(super) label: Option<String>,
    #[serde(default)]
    pub(super) marks: Vec<String>,
    #[serde(default)]
    pub(super) unchecked: bool,
    pub(super) not_quick: Option<String>,
    pub(super) bytes: Option<Spanned<String>>,
    pub(super) operations: Option<Spanned<String>>,
    pub(super) published: Option<String>,
    pub(super) builtin: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) parameters: BTreeMap<String, Spanned<Parameter>>,
    pub(super) argv: Option<Spanned<Vec<String>>>,
    pub(super) shell: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) needs: Vec<Spanned<NeedText>>,
}

/// `{ program = "pv", install = "apt-get install pv" }`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NeedText {
    pub(super) program: Option<String>,
    pub(super) root: Option<bool>,
    pub(super) cpus: Option<u64>,
    pub(super) check: Option<String>,
    pub(super) what: Option<String>,
    pub(super) install: Option<String>,
}
