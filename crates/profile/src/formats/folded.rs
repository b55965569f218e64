//! Folded stacks: `stage;function;function MICROSECONDS`, as flamegraph.pl reads them.

use std::io::{self, Write};

use crate::formats::paths::{own_times, stage_name, whole};
use crate::tower::Profile;

pub(super) fn write(profile: &Profile, to: &mut impl Write) -> io::Result<()> {
    for tower in &profile.towers {
        let stage = clean(&stage_name(tower.stage, &tower.root));
        for (path, own_ns) in own_times(&tower.root) {
            let us = whole(own_ns / 1e3);
            if us == 0 {
                continue;
            }
            let names = path[1..].iter().map(|node| clean(&node.name));
            let stack: Vec<String> = std::iter::once(stage.clone()).chain(names).collect();
            writeln!(to, "{} {us}", stack.join(";"))?;
        }
    }
    Ok(())
}

/// A name that cannot end a stack early.
fn clean(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c == ';' {
                ':'
            } else if c.is_control() {
                ' '
            } else {
                c
            }
        })
        .collect()
}

/// Reads folded stacks, of fullbore or of another program: each stack, its names outermost first with `;` between them, and its
/// number.
///
/// # Errors
/// The number of the first line that is not a stack and a number, from 1.
pub fn parse(text: &str) -> Result<Vec<(&str, f64)>, usize> {
    let mut stacks = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let parsed = line.rsplit_once(' ').and_then(|(stack, number)| {
            let number: f64 = number.parse().ok()?;
            let is_number = number.is_finite() && number >= 0.0 && !stack.is_empty();
            is_number.then_some((stack, number))
        });
        stacks.push(parsed.ok_or(number + 1)?);
    }
    Ok(stacks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::sample::sample;

    #[test]
    fn a_stack_is_a_line_and_can_be_read_back() {
        let mut text = Vec::new();
        write(&sample(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(
            text,
            "1 cat;vfs_read 500000\n\
             2 sort -n: a;main 100000\n\
             2 sort -n: a;main;read;waits for cat (stage 1) 600000\n\
             2 sort -n: a;main;std::sort<int> 300000\n"
        );
        let stacks = parse(&text).unwrap();
        assert_eq!(stacks[2].0, "2 sort -n: a;main;read;waits for cat (stage 1)");
        assert_eq!(stacks.iter().map(|(_, us)| us).sum::<f64>(), 1.5e6);
    }

    #[test]
    fn a_line_that_is_no_stack_is_named() {
        assert_eq!(parse("a;b 1\n\nb\n"), Err(3));
        assert_eq!(parse("a;b -1\n"), Err(1));
        assert_eq!(parse("a 1\nb NaN\n"), Err(2));
        assert_eq!(parse(""), Ok(Vec::new()));
    }
}
