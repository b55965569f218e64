//! Reads the processor's name from `/proc/cpuinfo`, which every architecture writes in its own way.

/// Returns the processor's name from the text of `/proc/cpuinfo`; `None` when the text does not name it.
///
/// Source: the `c_show` or `show_cpuinfo` function of each architecture in Linux.
#[must_use]
pub fn cpu_model(text: &str) -> Option<String> {
    let field = |wanted: &str| {
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        let mut values = fields.filter(|(name, _)| name.trim() == wanted).map(|(_, value)| value);
        values.next().map(str::trim).filter(|value| !value.is_empty())
    };
    // x86 and 32-bit ARM; LoongArch; MIPS; Power.
    let plain = ["model name", "Model Name", "cpu model", "cpu"];
    if let Some(name) = plain.into_iter().find_map(field) {
        return Some(name.to_owned());
    }
    if let Some(core) = field("uarch") {
        return Some(format!("RISC-V {core}"));
    }
    if let (Some(implementer), Some(part)) = (field("CPU implementer"), field("CPU part")) {
        return Some(arm(implementer, part));
    }
    if let Some(isa) = field("isa") {
        return Some(format!("RISC-V {}", isa.split('_').next().unwrap_or(isa)));
    }
    ibm_z(text)
}

/// Names of 64-bit ARM cores by implementer and part, from Linux's `arch/arm64/include/asm/cputype.h`.
const ARM_CORES: &[(&str, &str, &str)] = &[
    ("0x41", "0xd03", "Cortex-A53"),
    ("0x41", "0xd05", "Cortex-A55"),
    ("0x41", "0xd07", "Cortex-A57"),
    ("0x41", "0xd08", "Cortex-A72"),
    ("0x41", "0xd0b", "Cortex-A76"),
    ("0x41", "0xd0c", "Neoverse-N1"),
    ("0x41", "0xd40", "Neoverse-V1"),
    ("0x41", "0xd49", "Neoverse-N2"),
    ("0x41", "0xd4f", "Neoverse-V2"),
    ("0xc0", "0xac3", "Ampere-1"),
    ("0xc0", "0xac4", "Ampere-1A"),
];

fn arm(implementer: &str, part: &str) -> String {
    let core = ARM_CORES.iter().find(|(by, number, _)| (*by, *number) == (implementer, part));
    match core {
        Some((_, _, name)) => format!("ARM {name}"),
        None => format!("ARM implementer {implementer} part {part}"),
    }
}

/// Reads `vendor_id : IBM/S390` and `processor 0: version = 00,  identification = 0123,  machine = 3906`.
fn ibm_z(text: &str) -> Option<String> {
    let is_z = text.lines().any(|line| line.starts_with("vendor_id") && line.contains("IBM/S390"));
    let processor = text.lines().find(|line| line.starts_with("processor 0:"))?;
    let machine = processor.split_once("machine = ")?.1.trim();
    (is_z && !machine.is_empty()).then(|| format!("IBM/S390 machine {machine}"))
}
