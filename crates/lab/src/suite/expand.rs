//! `{placeholders}` in lines, filled in with the parameters of a point.

use std::fmt;

use fullbore_measure::Bytes;

use crate::{Parameter, Parameters};

/// A placeholder that stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(
    /// Its name.
    pub String,
);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}} is no parameter", self.0)
    }
}

/// Fills in the placeholders of a text; `{{` and `}}` stand for braces, and what is no name in braces
/// (such as awk's `{print $1}`) stays as it is.
///
/// # Errors
/// A name in braces that is no parameter.
pub fn expand(text: &str, parameters: &Parameters) -> Result<String, Unknown> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        expanded.push_str(&rest[..at]);
        let found = &rest[at..];
        if found.starts_with("{{") || found.starts_with("}}") {
            expanded.push_str(&found[..1]);
            rest = &found[2..];
        } else if let Some(name) = placeholder(found) {
            let value = parameters.0.get(name).ok_or_else(|| Unknown(name.to_owned()))?;
            expanded.push_str(&value.to_string());
            rest = &found[name.len() + 2..];
        } else {
            expanded.push_str(&found[..1]);
            rest = &found[1..];
        }
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Fills in the placeholders in values; what then says a number is one.
pub(crate) fn filled(values: &Parameters, parameters: &Parameters) -> Result<Parameters, Unknown> {
    let fill = |(name, value): (&String, &Parameter)| {
        let value = match value {
            Parameter::Text(text) => parameter(Parameter::Text(expand(text, parameters)?)),
            other => other.clone(),
        };
        Ok((name.clone(), value))
    };
    Ok(Parameters(values.0.iter().map(fill).collect::<Result<_, _>>()?))
}

/// The name at the start of `{name}…`.
fn placeholder(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix('{')?.split_once('}')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    is_name.then_some(name)
}

/// A product of sizes, such as `2K * 1000`.
///
/// # Errors
/// The factor that is no size, or a product beyond 64 bits.
pub(crate) fn product(text: &str) -> Result<u64, String> {
    text.split('*').try_fold(1_u64, |product, factor| {
        let factor = factor.trim();
        let number: Bytes = factor.parse().map_err(|error| format!("'{factor}': {error}"))?;
        product.checked_mul(number.0).ok_or_else(|| format!("{text} does not fit into 64 bits"))
    })
}

/// A text that says a number or a size becomes a number.
pub(crate) fn parameter(value: Parameter) -> Parameter {
    match value {
        Parameter::Text(text) => match text.parse::<Bytes>() {
            Ok(size) => Parameter::Number(size.0),
            Err(_) => Parameter::Text(text),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        let pairs = [
            ("block", Parameter::Number(4096)),
            ("dir", Parameter::Text("/tmp/x".into())),
            ("busy", Parameter::Flag(true)),
        ];
        Parameters(pairs.map(|(name, value)| (name.to_owned(), value)).into())
    }

    #[test]
    fn names_in_braces_are_filled_in_and_other_braces_stay() {
        let line = "dd bs={block} of={dir}/out | awk '{print $1}' | x {{block}} {busy} }";
        assert_eq!(
            expand(line, &parameters()).unwrap(),
            "dd bs=4096 of=/tmp/x/out | awk '{print $1}' | x {block} true }"
        );
    }

    #[test]
    fn an_unknown_name_is_said() {
        let error = expand("{blok}", &parameters()).unwrap_err();
        assert_eq!(error.to_string(), "{blok} is no parameter");
    }

    #[test]
    fn products_are_computed() {
        assert_eq!(product("64K * 100"), Ok(6_553_600));
        assert!(product("64K * x").unwrap_err().starts_with("'x': not a size"));
        assert!(product("99999999T").is_err() && product("9T*9T*9T").is_err());
    }
}
