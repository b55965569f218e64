//! Plays Morse code as sound.
//!
//! Timing follows ITU-R M.1677-1, part I, 2: a dash is three dots long, the space between elements one, between letters
//! three, between words seven. The speed counts words a minute of PARIS, which is 50 dots long with the gap after it.
//! Every tone rises and falls along half a cosine, so that it does not click.

/// Yields the samples of a whole message in order.
///
/// ```
/// use fullbore_codec::morse::audio::{Audio, Settings};
/// let samples: Vec<i16> = Audio::new(".--. .- .-. .. ... /".bytes(), Settings::default()).collect();
/// // At 20 words a minute, PARIS takes three seconds.
/// assert_eq!(samples.len(), 3 * 48_000);
/// ```
#[derive(Clone, Debug)]
pub struct Audio<I> {
    code: I,
    settings: Settings,
    /// The tone or silence being sent, and how much of it is sent.
    now: Piece,
    at: u32,
    /// Dots of silence sent since the last tone; 7 before the first tone.
    silence_dots: u32,
    /// Where the next dot begins, in samples and fractions of one.
    due: f64,
    sent: u64,
}

/// Settings of the sound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Speed, in words (PARIS) a minute. More than 0.
    pub words_per_minute: f64,
    /// Pitch in hertz, less than half of the sample rate.
    pub tone_hz: f64,
    /// Samples per second.
    pub sample_rate_hz: u32,
    /// Loudness, 0 to 1.
    pub amplitude: f64,
    /// How long a tone takes to rise and to fall, in seconds; at most half of a dot.
    pub edge_s: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            words_per_minute: 20.0,
            tone_hz: 600.0,
            sample_rate_hz: 48_000,
            amplitude: 0.5,
            edge_s: 0.005,
        }
    }
}

/// Number of dots in PARIS and the gap after it.
const DOTS_PER_WORD: f64 = 50.0;

/// A tone or a silence, in samples.
#[derive(Clone, Copy, Debug)]
struct Piece {
    is_tone: bool,
    samples: u32,
}

impl Settings {
    /// Returns the length of a dot in samples.
    fn dot(&self) -> f64 {
        60.0 / (self.words_per_minute * DOTS_PER_WORD) * f64::from(self.sample_rate_hz)
    }

    fn sample(&self, at: u32, samples: u32) -> i16 {
        let rate = f64::from(self.sample_rate_hz);
        let edge = (self.edge_s * rate).clamp(1.0, self.dot() / 2.0);
        let from_end = f64::from(at.min(samples - 1 - at)) + 0.5;
        let rise = (from_end / edge).min(1.0);
        let envelope = 0.5 - 0.5 * (std::f64::consts::PI * rise).cos();
        let phase = std::f64::consts::TAU * self.tone_hz * f64::from(at) / rate;
        let value = phase.sin() * envelope * self.amplitude.clamp(0.0, 1.0) * f64::from(i16::MAX);
        // The clamp above keeps it within the range of i16.
        #[allow(clippy::cast_possible_truncation)]
        let sample = value.round() as i16;
        sample
    }
}

impl<I: Iterator<Item = u8>> Audio<I> {
    /// Plays `code` as [`Encoder`](super::Encoder) writes it: dots, dashes, spaces, `/`. Every other character is the
    /// gap between words.
    pub fn new(code: I, settings: Settings) -> Self {
        let now = Piece { is_tone: false, samples: 0 };
        Self { code, settings, now, at: 0, silence_dots: 7, due: 0.0, sent: 0 }
    }

    /// Makes a tone or silence of this many dots. Its length keeps the whole message in time, to within a sample.
    fn piece(&mut self, is_tone: bool, dots: u32) -> Piece {
        self.due += self.settings.dot() * f64::from(dots);
        // A piece has at most some billion samples.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let samples = (self.due.round() as u64).saturating_sub(self.sent) as u32;
        self.sent += u64::from(samples);
        Piece { is_tone, samples }
    }

    /// Makes the silence that is missing to `dots` since the last tone.
    fn silence(&mut self, dots: u32) -> Piece {
        let missing = dots.saturating_sub(self.silence_dots);
        self.silence_dots = self.silence_dots.max(dots);
        self.piece(false, missing)
    }

    fn tone(&mut self, dots: u32) -> Piece {
        self.silence_dots = 0;
        self.piece(true, dots)
    }
}

impl<I: Iterator<Item = u8>> Iterator for Audio<I> {
    type Item = i16;

    fn next(&mut self) -> Option<i16> {
        while self.at == self.now.samples {
            self.at = 0;
            // The space after an element belongs to the element.
            self.now = if self.now.is_tone {
                self.silence(1)
            } else {
                match self.code.next()? {
                    b'.' => self.tone(1),
                    b'-' => self.tone(3),
                    b' ' => self.silence(3),
                    _ => self.silence(7),
                }
            };
        }
        let at = self.at;
        self.at += 1;
        Some(if self.now.is_tone { self.settings.sample(at, self.now.samples) } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(words_per_minute: f64) -> Settings {
        Settings { words_per_minute, ..Settings::default() }
    }

    /// Returns the lengths of tones and silences in samples, beginning with a tone.
    fn runs(samples: &[i16], gap: usize) -> Vec<usize> {
        let mut runs = vec![0];
        let mut is_tone = true;
        for at in 0..samples.len() {
            let end = samples.len().min(at + gap);
            let has_tone = samples[at..end].iter().any(|sample| *sample != 0);
            if has_tone != is_tone {
                is_tone = has_tone;
                runs.push(0);
            }
            *runs.last_mut().unwrap() += 1;
        }
        runs
    }

    #[test]
    fn paris_takes_fifty_dots_at_every_speed() {
        for wpm in [5.0, 12.5, 20.0, 37.0] {
            let samples = Audio::new(".--. .- .-. .. ... /".bytes(), settings(wpm)).count();
            let expected = 60.0 / wpm * 48_000.0;
            assert!((samples as f64 - expected).abs() <= 1.0, "{wpm}: {samples} {expected}");
        }
    }

    #[test]
    fn elements_and_gaps_have_their_lengths() {
        // A dot is 2880 samples at 20 words a minute.
        let samples: Vec<i16> = Audio::new(".- / -\n.".bytes(), settings(20.0)).collect();
        let dots: Vec<usize> =
            runs(&samples, 100).into_iter().map(|run| (run + 1440) / 2880).collect();
        assert_eq!(dots, [1, 1, 3, 7, 3, 7, 1, 1]);
    }

    #[test]
    fn no_tone_begins_or_ends_with_a_jump() {
        let samples: Vec<i16> = Audio::new(".-.".bytes(), settings(20.0)).collect();
        let steepest = samples.windows(2).map(|pair| pair[0].abs_diff(pair[1])).max().unwrap();
        // This is the steepest step of a sine of half amplitude at 600 Hz.
        let sine = std::f64::consts::TAU * 600.0 / 48_000.0 * 16_384.0;
        assert!(f64::from(steepest) < sine * 1.05, "{steepest}");
        // The pieces are a dot, a dash and a dot, a dot apart.
        for edge in [0, 1, 2, 5, 6, 7].map(|dots| dots * 2880) {
            let around = &samples[edge.max(2) - 2..samples.len().min(edge + 2)];
            assert!(around.iter().all(|sample| sample.abs() < 50), "{edge}: {around:?}");
        }
        assert!(samples.iter().any(|sample| *sample > 16_000));
    }
}
