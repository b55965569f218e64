//! Whose answer is right.

use super::entrant::Entrant;
use crate::record::Outcome;

/// Judges the answers of a check: against the `wanted` one, or else against the answer that most engines gave. Engines
/// whose answer was wrong are out. Where no answer has the most votes, at least one of them is wrong, and nobody knows
/// which: all that answered are out then, because times of different results cannot be compared.
pub(super) fn judge(entrants: &mut [Entrant<'_>], wanted: Option<String>) {
    let judged = |entrant: &&mut Entrant<'_>| {
        entrant.out.is_none() && entrant.taken.check.is_some() && !entrant.engine.is_unchecked
    };
    for entrant in entrants.iter_mut().filter(judged) {
        if answer(entrant).is_none() {
            entrant.out = Some(Outcome::Failed { why: "it gave no answer to check".to_owned() });
        }
    }
    let voters: Vec<Vote> = entrants.iter_mut().filter(judged).filter_map(|e| vote(e)).collect();
    let expected = wanted.or_else(|| most(&voters));
    for entrant in entrants.iter_mut().filter(judged) {
        let Some(found) = answer(entrant) else {
            continue;
        };
        match &expected {
            Some(expected) => hold(entrant, &found, expected),
            None => entrant.out = dispute(&voters, found),
        }
    }
    for entrant in entrants {
        entrant.taken.expected.clone_from(&expected);
    }
}

/// Puts an engine out whose answer is not the expected one.
pub(super) fn hold(entrant: &mut Entrant<'_>, found: &str, expected: &str) {
    if found != expected {
        entrant.out =
            Some(Outcome::WrongAnswer { expected: expected.to_owned(), found: found.to_owned() });
    }
}

/// Who answered what.
struct Vote {
    label: String,
    answer: String,
}

fn vote(entrant: &Entrant<'_>) -> Option<Vote> {
    Some(Vote { label: entrant.engine.label.clone(), answer: answer(entrant)? })
}

fn answer(entrant: &Entrant<'_>) -> Option<String> {
    entrant.taken.check.as_ref()?.answer.clone()
}

/// The answer that more engines gave than any other.
fn most(voters: &[Vote]) -> Option<String> {
    let votes = |answer: &str| voters.iter().filter(|vote| vote.answer == answer).count();
    let first = voters.iter().max_by_key(|vote| votes(&vote.answer))?;
    let is_rival = |vote: &&Vote| vote.answer != first.answer;
    let rival = voters.iter().filter(is_rival).map(|vote| votes(&vote.answer)).max();
    (rival.unwrap_or(0) < votes(&first.answer)).then(|| first.answer.clone())
}

fn dispute(voters: &[Vote], found: String) -> Option<Outcome> {
    let other = voters.iter().find(|vote| vote.answer != found)?;
    let (other, others) = (other.label.clone(), other.answer.clone());
    Some(Outcome::Disputed { found, other, others })
}
