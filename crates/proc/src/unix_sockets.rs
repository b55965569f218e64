//! Asks Linux about one Unix socket: who its peer is, and in which directions data may still flow.
//!
//! Source: sock_diag(7), linux/unix_diag.h.

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use rustix::net::{recv, send, socket_with};

/// A connected socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Connection {
    /// Inode of the socket at the other side.
    pub(crate) peer: Option<u64>,
    pub(crate) one_way: Option<OneWay>,
}

/// A connected socket through which data flows one way only, because the other way was shut down: how ksh93 joins the
/// stages of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OneWay {
    /// Inode of the socket at which the data arrives; both sides have this in common.
    pub(crate) receiver: u64,
    /// This is the socket at which it arrives.
    pub(crate) reads: bool,
}

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const UDIAG_SHOW_PEER: u32 = 4;
const UNIX_DIAG_PEER: u16 = 2;
const UNIX_DIAG_SHUTDOWN: u16 = 6;
const RCV_SHUTDOWN: u8 = 1;
const SEND_SHUTDOWN: u8 = 2;

const HEADER_BYTES: usize = 16;
const MESSAGE_BYTES: usize = 16;
const REQUEST_BYTES: usize = HEADER_BYTES + 24;
const REQUEST_LENGTH: u32 = 40;
const ATTRIBUTE_BYTES: usize = 4;

/// Asks about the Unix socket with this inode; `None` when Linux does not tell.
pub(crate) fn connection(inode: u64) -> Option<Connection> {
    let inode = u32::try_from(inode).ok()?;
    let family = AddressFamily::NETLINK;
    let socket =
        socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))
            .ok()?;
    send(&socket, &request(inode), SendFlags::empty()).ok()?;
    let mut answer = [0; 1024];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty()).ok()?;
    parse(inode, answer.get(..length)?)
}

/// `struct nlmsghdr` and `struct unix_diag_req`.
fn request(inode: u32) -> [u8; REQUEST_BYTES] {
    let mut request = [0; REQUEST_BYTES];
    let mut put = |at: usize, bytes: &[u8]| request[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &REQUEST_LENGTH.to_ne_bytes());
    put(4, &SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    put(6, &NLM_F_REQUEST.to_ne_bytes());
    put(HEADER_BYTES, &[1]); // AF_UNIX
    put(HEADER_BYTES + 4, &u32::MAX.to_ne_bytes()); // in any state
    put(HEADER_BYTES + 8, &inode.to_ne_bytes());
    put(HEADER_BYTES + 12, &UDIAG_SHOW_PEER.to_ne_bytes());
    put(HEADER_BYTES + 16, &[0xFF; 8]); // no cookie
    request
}

/// Parses `struct nlmsghdr`, `struct unix_diag_msg` and the attributes behind it.
fn parse(inode: u32, answer: &[u8]) -> Option<Connection> {
    let is_whole = usize::try_from(u32_at(answer, 0)?).ok()? <= answer.len();
    let is_answer =
        u16_at(answer, 4)? == SOCK_DIAG_BY_FAMILY && u32_at(answer, HEADER_BYTES + 4)? == inode;
    if !is_whole || !is_answer {
        return None;
    }
    let (mut peer, mut shut) = (None, 0);
    let mut at = HEADER_BYTES + MESSAGE_BYTES;
    while let Some(length) = u16_at(answer, at) {
        let length = usize::from(length);
        match u16_at(answer, at + 2)? {
            UNIX_DIAG_PEER => peer = u32_at(answer, at + ATTRIBUTE_BYTES),
            UNIX_DIAG_SHUTDOWN => shut = *answer.get(at + ATTRIBUTE_BYTES)?,
            _ => {}
        }
        // Attributes begin at multiples of 4.
        at += length.max(ATTRIBUTE_BYTES).next_multiple_of(4);
    }
    let receiver = match shut {
        SEND_SHUTDOWN => Some(inode),
        RCV_SHUTDOWN => peer,
        _ => None,
    };
    let one_way = receiver
        .map(|receiver| OneWay { receiver: u64::from(receiver), reads: shut == SEND_SHUTDOWN });
    Some(Connection { peer: peer.map(u64::from), one_way })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Shutdown;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    fn inode(socket: &impl AsFd) -> u64 {
        rustix::fs::fstat(socket).unwrap().st_ino
    }

    fn one_way(socket: &impl AsFd) -> Option<OneWay> {
        connection(inode(socket))?.one_way
    }

    #[test]
    fn a_pair_that_is_used_one_way_is_known_from_both_sides() {
        let (reader, writer) = UnixStream::pair().unwrap();
        assert_eq!(one_way(&reader), None, "both ways are open");
        assert_eq!(connection(inode(&reader)).unwrap().peer, Some(inode(&writer)));
        reader.shutdown(Shutdown::Write).unwrap();
        writer.shutdown(Shutdown::Read).unwrap();
        let receiver = inode(&reader);
        assert_eq!(one_way(&reader), Some(OneWay { receiver, reads: true }));
        assert_eq!(one_way(&writer), Some(OneWay { receiver, reads: false }));
        drop(writer);
        assert_eq!(one_way(&reader), None, "nobody writes any more");
    }

    #[test]
    fn a_socket_that_is_none_of_unix_is_not_known() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(connection(inode(&listener)), None);
        assert_eq!(connection(u64::MAX), None);
    }

    #[test]
    fn an_answer_that_is_cut_off_is_refused() {
        let mut answer = vec![0; HEADER_BYTES + MESSAGE_BYTES];
        answer[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        answer[HEADER_BYTES + 4..][..4].copy_from_slice(&7_u32.to_ne_bytes());
        let mut attribute = |kind: u16, value: &[u8]| {
            let length = u16::try_from(ATTRIBUTE_BYTES + value.len()).unwrap();
            answer.extend([length.to_ne_bytes(), kind.to_ne_bytes()].concat());
            answer.extend(value);
            answer.resize(answer.len().next_multiple_of(4), 0);
        };
        attribute(UNIX_DIAG_PEER, &9_u32.to_ne_bytes());
        attribute(UNIX_DIAG_SHUTDOWN, &[RCV_SHUTDOWN]);
        let length = u32::try_from(answer.len()).unwrap();
        answer[..4].copy_from_slice(&length.to_ne_bytes());
        let found =
            Connection { peer: Some(9), one_way: Some(OneWay { receiver: 9, reads: false }) };
        assert_eq!(parse(7, &answer), Some(found));
        assert_eq!(parse(8, &answer), None, "the answer to another question");
        for length in 0..answer.len() {
            assert_eq!(parse(7, &answer[..length]), None, "{length} bytes");
        }
    }
}
