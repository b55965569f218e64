//! WAV files (RIFF, PCM, 16 bits, mono), also for outputs that cannot seek.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};

/// Bytes before the samples.
const HEADER_BYTES: u64 = 44;
/// Bytes up to the end of the first length field, which counts the bytes after it.
const BEFORE_LENGTH: u64 = 8;
/// Where the length of the samples is.
const SAMPLES_LENGTH_AT: u64 = 40;
/// The length of a sound whose end is not known yet, as programs that play from a pipe expect it.
const UNKNOWN_LENGTH: u32 = u32::MAX;

/// Writes a sound of unknown length.
pub(crate) fn write_wav(
    output: impl Write,
    sample_rate_hz: u32,
    samples: impl Iterator<Item = i16>,
) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(1 << 16, output);
    output.write_all(&header(sample_rate_hz))?;
    for sample in samples {
        output.write_all(&sample.to_le_bytes())?;
    }
    output.flush()
}

/// Writes the lengths into a file that ends here. A length beyond the format's 32 bits stays unknown.
pub(crate) fn state_length(mut file: impl Write + Seek) -> io::Result<()> {
    let end = file.stream_position()?;
    for (at, before) in [(4, BEFORE_LENGTH), (SAMPLES_LENGTH_AT, HEADER_BYTES)] {
        let length = u32::try_from(end - before).unwrap_or(UNKNOWN_LENGTH);
        file.seek(SeekFrom::Start(at))?;
        file.write_all(&length.to_le_bytes())?;
    }
    Ok(())
}

/// Source: Microsoft and IBM, "Multimedia Programming Interface and Data Specifications 1.0", the WAVE format.
fn header(sample_rate_hz: u32) -> Vec<u8> {
    const SAMPLE_BYTES: u16 = 2;
    let mut header = Vec::new();
    header.extend(b"RIFF");
    header.extend(UNKNOWN_LENGTH.to_le_bytes());
    header.extend(b"WAVEfmt ");
    header.extend(16u32.to_le_bytes());
    // PCM, one channel.
    header.extend(1u16.to_le_bytes());
    header.extend(1u16.to_le_bytes());
    header.extend(sample_rate_hz.to_le_bytes());
    header.extend((sample_rate_hz * u32::from(SAMPLE_BYTES)).to_le_bytes());
    header.extend(SAMPLE_BYTES.to_le_bytes());
    header.extend((8 * SAMPLE_BYTES).to_le_bytes());
    header.extend(b"data");
    header.extend(UNKNOWN_LENGTH.to_le_bytes());
    header
}
