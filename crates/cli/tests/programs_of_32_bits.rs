//! 32-bit programs, whose system calls have other numbers, are stages like any other.

use crate::gate::Pass;
use crate::narrow;
use crate::sandbox::{Sandbox, stage};

/// Copies its input to its output, and counts down from `LOOPS` for each block.
const PROGRAM: &str = "
        .globl _start
_start:
again:  mov $3, %eax            # read
        xor %ebx, %ebx
        mov $buffer, %ecx
        mov $4096, %edx
        int $0x80
        test %eax, %eax
        jle done
        mov %eax, %edx
        mov $LOOPS, %ecx
        jecxz write
spin:   dec %ecx
        jnz spin
write:  mov $4, %eax            # write
        mov $1, %ebx
        mov $buffer, %ecx
        int $0x80
        test %eax, %eax
        jg again
done:   mov $1, %eax            # exit
        xor %ebx, %ebx
        int $0x80
        .lcomm buffer, 4096
";

#[test]
fn the_waits_of_a_32_bit_program_are_known() {
    require!(cfg!(target_arch = "x86_64"), "this CPU has no programs of 32-bit x86");
    require_programs!("as", "ld");
    let _alone = Pass::alone();
    let place = Sandbox::new();
    for (name, loops) in [("feeder", 0), ("slow", 2_000_000), ("taker", 0)] {
        narrow::assemble(&place, PROGRAM, name, &[&format!("LOOPS={loops}")]);
    }
    require!(narrow::runs(&place, "./feeder"), "this kernel runs no 32-bit programs");

    let line = "seq 1000000 | ./feeder | ./slow | ./taker | tail -n 1";
    let record = place.record(&["--no-tune"], line);
    let first = record.findings.first().map(|finding| finding.message.as_str()).unwrap_or_default();
    assert!(first.starts_with("slow is on a CPU "), "{first}");
    let percent = stage(&record, "feeder").blocked_writing_percent.unwrap();
    assert!(percent > 80.0, "{percent} % {record:#?}");
    let percent = stage(&record, "taker").blocked_reading_percent.unwrap();
    assert!(percent > 80.0, "{percent} % {record:#?}");
}
