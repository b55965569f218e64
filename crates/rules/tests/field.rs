//! Commands and pipelines as people write them, with the answer that is known to be right.
//!
//! R: outputs one after the other; M: after a merge; E: means the same; D: differs; U: nothing is known.

use fullbore_rules::{Dealt, rule_of_line};

const LINES: &str = r#"
# GNU parallel --pipe, from its manual and from answers about it
M  grep -c foo
R  grep 'pattern'
M  wc -l
M  sort
M  sort -n
E  bzip2 --best
E  gzip -9
R  grep -F -f patterns.txt
R  sed 's/^>.*//'
R  tr -d '[:punct:]'
R  jq -c '.user.name'
R  jq -r '[.id, .name] | @csv'
R  awk -F'\t' '$3 > 100 {print $1 "\t" $3}'
D  awk '{s+=$1} END {print s}'
D  sha1sum
D  tail -n +2
D  sort -R
D  bc
U  python3 score.py
U  perl script.pl
U  ./worker --fast

# Koala: oneliners
R  tr A-Z a-z
M  tr -cs A-Za-z '\n'
R  grep '\(.\).*\1\(.\).*\2\(.\).*\3\(.\).*\4'
R  grep '\(.\).*\1\(.\).*\2\(.\).*\3\(.\).*\4' | cut -d ' ' -f 1
M  tr A-Z a-z | sort
D  sort | uniq
D  sort | uniq -c | sort -rn
D  comm -23 - dict
M  grep 'the land of' | wc -l
M  head -n 15
D  sed 100q
U  col -bx
R  tr -d '[:punct:]' | tr A-Z a-z
R  iconv -f utf-8 -t ascii//translit
D  bigrams=1 awk '{print prev, $0; prev=$0}'
R  rev
D  rev | sort | rev

# Koala: unixfun
R  cut -d ' ' -f 2
R  awk '{print $2, $0}' | cut -d ' ' -f 2
R  cut -d '(' -f 2 | cut -d ')' -f 1
M  cut -d ' ' -f 4 | sort -n
R  grep 1969 | cut -f 2
R  sed 's/^/ /'
R  tr '[a-z]' 'P'
R  tr -c '[a-z][A-Z]' '\n' | grep '[A-Z]'
R  sed 's/\./\n/g'
M  grep -v '[KQRBN]' | wc -l
D  sed 2d
R  awk "{print \$2, \$0}"
D  awk '{$1=$1};1' | nl
D  head -n 1 | cut -c 1-4
M  sort -k1 -n
D  uniq -d
R  tr ' ' '\n' | grep '[A-Z]' | tr a-z A-Z
R  fold -w1
D  xargs -L 1 wc -w
R  grep AT\&T

# Koala: nlp
M  tr -c 'A-Za-z' '[\n*]' | grep -v '^\s*$' | sort
D  tr -sc '[A-Z][a-z]' '\n' | cat
R  grep -o '[aeiou]'
D  tail +2 | paste - -
R  sed -E 's/([^aeiou]*)/\1/'

# Answers on Stack Overflow
R  sed 's/[^[:print:]]//g'
R  sed -n 's/.*id=\([0-9]*\).*/\1/p'
R  sed '/^[[:space:]]*$/d'
R  sed '/^#/d;s/[[:space:]]*$//'
D  sed ':a;N;$!ba;s/\n/ /g'
D  sed -n '2{p;q}'
D  sed '1!G;h;$!d'
R  sed '/start/s/foo/bar/g'
D  sed '/start/,/end/d'
R  awk '{print $NF}'
R  awk '!/^#/ && NF'
D  awk '!x[$0]++'
D  awk 'NR % 3 == 0'
R  awk 'length($0) > 80'
R  awk '{ for (i=1; i<=NF; i++) if ($i ~ /@/) print $i }'
R  awk -F: '{ print $1 > "/dev/stderr" } 1'
R  awk '{ sum = 0; for (i = 1; i <= NF; i++) sum += $i; print sum / NF }'
D  awk -v n=2 'NR==n'
D  awk '{a[i++]=$0} END {for (j=i-1; j>=0;) print a[j--]}'
D  awk 'BEGIN{print "x"}{print}'
R  perl -pe 's/\r$//'
U  perl -pe '$_ = lc'
D  perl -ne 'print if $. > 3'
U  perl -ne 'print unless $seen{$_}++'
D  cat file.txt
D  grep foo file.txt
D  grep -rn TODO .
R  grep -oP '(?<=name=")[^"]+'
U  zgrep foo | cat
D  grep -A 3 Exception
R  jq 'select(.level == "error")' -c
D  jq -s 'map(.x) | add'
D  jq -n '[inputs | .x] | add'
R  LC_ALL=C grep -a '^x'
M  LC_ALL=C sort -t, -k2,2n -k1,1 -S 50%
R  nice -n 19 grep x
D  timeout 10 grep x
U  while read l; do echo "$l"; done
U  grep x > out.txt
U  grep $1
U  grep x && echo yes
U  grep x &
U  (grep x)
U  tee >(wc -l)
D  tee copy.txt
D  nl | grep x
U  cat *.log
D  zcat
D  column -t -s,
D  shuf -n 10
R  numfmt --to=iec --invalid=ignore
U  cut -d, -f1,3 --output-delimiter=$'\t'
"#;

fn class(line: &str) -> char {
    match rule_of_line(line).dealt {
        Dealt::Records => 'R',
        Dealt::Merge(_) => 'M',
        Dealt::Equivalent { .. } => 'E',
        Dealt::Differs { .. } => 'D',
        Dealt::Unknown => 'U',
    }
}

#[test]
fn the_lines_of_the_field_have_the_right_answers() {
    let mut wrong = Vec::new();
    for row in LINES.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let (expected, line) = row.split_at(1);
        let found = class(line.trim());
        if !expected.starts_with(found) {
            wrong.push(format!("{expected} expected, {found} found: {line}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
