//! Cells in which nothing ends the cell or the row.

/// Appends a cell as jq's @tsv does.
pub(super) fn tsv(cell: &[u8], text: &mut Vec<u8>) {
    for byte in cell {
        match byte {
            b'\t' => text.extend_from_slice(b"\\t"),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\\' => text.extend_from_slice(b"\\\\"),
            byte => text.push(*byte),
        }
    }
}

/// Appends a cell with quotes if it needs them (RFC 4180).
pub(super) fn csv(cell: &[u8], text: &mut Vec<u8>) {
    if !cell.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        return text.extend_from_slice(cell);
    }
    text.push(b'"');
    for byte in cell {
        if *byte == b'"' {
            text.push(b'"');
        }
        text.push(*byte);
    }
    text.push(b'"');
}

/// Appends a cell in which nothing ends the cell or the row.
pub(super) fn markdown(cell: &[u8], text: &mut Vec<u8>) {
    for byte in cell {
        match byte {
            b'|' | b'\\' | b'`' | b'*' | b'<' => text.extend_from_slice(&[b'\\', *byte]),
            b'\n' | b'\r' | b'\t' => text.push(b' '),
            byte => text.push(*byte),
        }
    }
}
