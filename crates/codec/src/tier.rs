//! Which kernels run: chosen once, by what the CPU can do.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// A set of instructions that kernels are written for. Greater ones include the lesser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// Rust without intrinsics: runs everywhere.
    Portable,
    /// AVX2 with BMI1, BMI2, LZCNT, POPCNT and PCLMULQDQ: Haswell, Zen and later.
    Avx2,
    /// AVX-512 F, BW, DQ, VL, VBMI, VBMI2, GFNI and VPCLMULQDQ: Ice Lake, Zen 4 and later.
    Avx512,
}

/// A wish for a tier that cannot be granted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TierError {
    /// Not the name of a tier.
    Unknown(String),
    /// The CPU does not have it.
    Unsupported(Tier),
}

impl fmt::Display for TierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                write!(f, "FULLBORE_TIER: {name}: not one of portable, avx2, avx512")
            }
            Self::Unsupported(tier) => {
                write!(f, "FULLBORE_TIER: {tier}: this CPU has only {}", Tier::best())
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
            Self::Avx512 => "avx512",
        })
    }
}

impl FromStr for Tier {
    type Err = TierError;

    fn from_str(name: &str) -> Result<Self, TierError> {
        match name {
            "portable" => Ok(Self::Portable),
            "avx2" => Ok(Self::Avx2),
            "avx512" => Ok(Self::Avx512),
            _ => Err(TierError::Unknown(name.to_owned())),
        }
    }
}

impl Tier {
    /// The greatest tier of this CPU.
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
            let has_avx512 = has_avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vbmi2")
                && is_x86_feature_detected!("gfni")
                && is_x86_feature_detected!("vpclmulqdq");
            if has_avx512 {
                return Self::Avx512;
            }
            if has_avx2 {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// The tiers this CPU can run, least first: what tests go through.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut tiers = vec![Self::Portable, Self::Avx2, Self::Avx512];
        tiers.retain(|tier| *tier <= Self::best());
        tiers
    }

    /// The tier to use: the best one, or the one that the environment variable `FULLBORE_TIER` names. Looked up once.
    ///
    /// # Errors
    /// [`TierError`] when the variable names no tier, or one that this CPU cannot run.
    pub fn current() -> Result<Self, TierError> {
        static TIER: OnceLock<Result<Tier, TierError>> = OnceLock::new();
        TIER.get_or_init(|| match std::env::var_os("FULLBORE_TIER") {
            None => Ok(Self::best()),
            Some(name) if name.is_empty() => Ok(Self::best()),
            Some(name) => Self::wanted(&name.to_string_lossy(), Self::best()),
        })
        .clone()
    }

    /// This tier, or the best of the CPU where it has not got it: what makes a kernel of the tier safe to call.
    pub(crate) fn granted(self) -> Self {
        self.min(Self::best())
    }

    /// Whether this CPU has the vectors of the tier: AVX2 alone, AVX-512 F and BW alone. That is all a kernel needs which
    /// only moves memory, so it runs on CPUs, too, that lack the rest of the tier.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn has_vectors(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
            }
        }
    }

    fn wanted(name: &str, best: Self) -> Result<Self, TierError> {
        let tier: Self = name.parse()?;
        if tier > best { Err(TierError::Unsupported(tier)) } else { Ok(tier) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_is_never_forced_beyond_the_cpu() {
        assert_eq!(Tier::wanted("avx2", Tier::Avx512), Ok(Tier::Avx2));
        assert_eq!(Tier::wanted("avx512", Tier::Avx2), Err(TierError::Unsupported(Tier::Avx512)));
        assert_eq!(Tier::wanted("sse9", Tier::Avx2), Err(TierError::Unknown("sse9".to_owned())));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_cpu_with_a_tier_has_its_vectors() {
        assert!(Tier::all().into_iter().all(Tier::has_vectors));
    }

    #[test]
    fn every_machine_runs_the_portable_tier() {
        assert_eq!(Tier::all().first(), Some(&Tier::Portable));
        assert!(Tier::all().contains(&Tier::best()));
    }
}
