//! Selects which kernels run, according to the CPU.

use std::fmt;
use std::str::FromStr;

/// A set of instructions that kernels use. Of the tiers of one kind of CPU, each includes the lesser ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// Rust without intrinsics, which runs everywhere.
    Portable,
    /// AVX2 with BMI1, BMI2, LZCNT, POPCNT and PCLMULQDQ: Haswell, Zen and later.
    Avx2,
    /// AVX2, and GFNI: Alder Lake and later Intel CPUs without AVX-512. Only Kuznyechik has kernels for it.
    Avx2Gfni,
    /// AVX-512 F, BW, DQ, VL, VBMI, VBMI2, GFNI and VPCLMULQDQ: Ice Lake, Zen 4 and later.
    Avx512,
    /// NEON, which every AArch64 has.
    Neon,
}

/// The requested tier cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TierError {
    /// No tier has this name.
    Unknown(String),
    /// The CPU lacks the tier.
    Unsupported(Tier),
}

/// Proves that the CPU has the instructions of [`Tier::Avx2`]. Only [`Tier::granted`] makes one, so no other CPU can
/// reach a kernel that takes it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

/// Proves that the CPU has the instructions of [`Tier::Avx512`]; see [`Avx2`].
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

/// Proves that the CPU has the instructions of [`Tier::Neon`]. Rust's targets for AArch64 always have them, so kernels need no
/// `unsafe` call.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

/// A tier that the CPU has, with the proof.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Granted {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

impl fmt::Display for TierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                write!(f, "{name}: not one of portable, avx2, avx2-gfni, avx512, neon")
            }
            Self::Unsupported(tier) => {
                write!(f, "{tier}: this CPU has only {}", Tier::best())
            }
        }
    }
}

impl std::error::Error for TierError {}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx2Gfni => "avx2-gfni",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        })
    }
}

impl FromStr for Tier {
    type Err = TierError;

    fn from_str(name: &str) -> Result<Self, TierError> {
        match name {
            "portable" => Ok(Self::Portable),
            "avx2" => Ok(Self::Avx2),
            "avx2-gfni" => Ok(Self::Avx2Gfni),
            "avx512" => Ok(Self::Avx512),
            "neon" => Ok(Self::Neon),
            _ => Err(TierError::Unknown(name.to_owned())),
        }
    }
}

impl Tier {
    /// Returns the greatest tier of this CPU.
    #[must_use]
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("pclmulqdq");
            let has_gfni = is_x86_feature_detected!("gfni");
            let has_avx512 = has_avx2
                && has_gfni
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vbmi2")
                && is_x86_feature_detected!("vpclmulqdq");
            if has_avx512 {
                return Self::Avx512;
            }
            if has_avx2 {
                return if has_gfni { Self::Avx2Gfni } else { Self::Avx2 };
            }
        }
        if cfg!(target_arch = "aarch64") { Self::Neon } else { Self::Portable }
    }

    /// Returns the tiers that this CPU can run, least first; tests try them all.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut tiers = vec![Self::Portable, Self::Avx2, Self::Avx2Gfni, Self::Avx512, Self::Neon];
        tiers.retain(|tier| tier.is_part_of(Self::best()));
        tiers
    }

    /// Returns the tier called `name`, if this CPU can run it.
    ///
    /// # Errors
    /// [`TierError`] when no tier has this name, or this CPU cannot run it.
    pub fn named(name: &str) -> Result<Self, TierError> {
        Self::named_up_to(name, Self::best())
    }

    /// Returns this tier, or the CPU's best one if that is less, as the proof that its kernels need.
    pub(crate) fn granted(self) -> Granted {
        match self.or_best() {
            Self::Portable => Granted::Portable,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 | Self::Avx2Gfni => Granted::Avx2(Avx2(())),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => Granted::Avx512(Avx512(())),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => Granted::Neon(Neon(())),
            #[cfg(target_arch = "x86_64")]
            Self::Neon => Granted::Portable,
            #[cfg(not(target_arch = "x86_64"))]
            _ => Granted::Portable,
        }
    }

    /// Returns this tier, or the CPU's best one if it lacks this.
    pub(crate) fn or_best(self) -> Self {
        if self.is_part_of(Self::best()) { self } else { Self::best() }
    }

    /// Whether a CPU whose best tier is `best` has this one.
    fn is_part_of(self, best: Self) -> bool {
        match self {
            Self::Portable => true,
            Self::Avx2 => matches!(best, Self::Avx2 | Self::Avx2Gfni | Self::Avx512),
            Self::Avx2Gfni => matches!(best, Self::Avx2Gfni | Self::Avx512),
            Self::Avx512 | Self::Neon => self == best,
        }
    }

    fn named_up_to(name: &str, best: Self) -> Result<Self, TierError> {
        let tier: Self = name.parse()?;
        if tier.is_part_of(best) { Ok(tier) } else { Err(TierError::Unsupported(tier)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_is_never_forced_beyond_the_cpu() {
        assert_eq!(Tier::named_up_to("avx2", Tier::Avx512), Ok(Tier::Avx2));
        assert_eq!(
            Tier::named_up_to("avx512", Tier::Avx2),
            Err(TierError::Unsupported(Tier::Avx512))
        );
        assert_eq!(
            Tier::named_up_to("neon", Tier::Avx512),
            Err(TierError::Unsupported(Tier::Neon))
        );
        assert_eq!(Tier::named_up_to("avx2", Tier::Avx2Gfni), Ok(Tier::Avx2));
        assert_eq!(Tier::named_up_to("avx2-gfni", Tier::Avx512), Ok(Tier::Avx2Gfni));
        assert_eq!(
            Tier::named_up_to("avx2-gfni", Tier::Avx2),
            Err(TierError::Unsupported(Tier::Avx2Gfni))
        );
        assert_eq!(Tier::named_up_to("avx2", Tier::Neon), Err(TierError::Unsupported(Tier::Avx2)));
        assert_eq!(
            Tier::named_up_to("sse9", Tier::Avx2),
            Err(TierError::Unknown("sse9".to_owned()))
        );
    }

    #[test]
    fn every_machine_runs_the_portable_tier() {
        assert_eq!(Tier::all().first(), Some(&Tier::Portable));
        assert!(Tier::all().contains(&Tier::best()));
    }
}
