//! TCP sockets, as `/proc/PID/net/tcp` and `tcp6` list them (proc_pid_net(5)): those of the process's network namespace.

use std::collections::BTreeSet;

use crate::Root;

/// One TCP socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    /// Address and port of its own side, as Linux writes them; an IPv4 address in IPv6 form is written as IPv4.
    pub local: String,
    /// Address and port of the other side.
    pub remote: String,
    /// It waits for connections.
    pub listens: bool,
    /// Its inode, as descriptors show it; 0 when no process has it any more.
    pub inode: u64,
}

impl Root {
    /// The TCP sockets that a process could see; empty when they may not be listed.
    #[must_use]
    pub fn tcp_sockets(&self, pid: i32) -> Vec<TcpSocket> {
        ["net/tcp", "net/tcp6"]
            .iter()
            .flat_map(|name| {
                let bytes = self.bytes(pid, name).unwrap_or_default();
                String::from_utf8_lossy(&bytes)
                    .lines()
                    .skip(1)
                    .filter_map(parse)
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}

const LISTEN: &str = "0A";

fn parse(line: &str) -> Option<TcpSocket> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (local, remote, state) = (words.next()?, words.next()?, words.next()?);
    // tx_queue:rx_queue, tr:tm->when, retrnsmt, uid, timeout, inode
    let inode = words.nth(5)?.parse().ok()?;
    Some(TcpSocket {
        local: as_ipv4(local),
        remote: as_ipv4(remote),
        listens: state == LISTEN,
        inode,
    })
}

/// Shortens `0000000000000000FFFF00000100007F:1F90`, an IPv4 address in IPv6 form (RFC 4291, 2.5.5.2).
fn as_ipv4(place: &str) -> String {
    place.strip_prefix("0000000000000000FFFF0000").unwrap_or(place).to_owned()
}

/// Of these sockets, those whose other side is one of them, too; a socket that listens is one when another of them is connected
/// to its port.
#[must_use]
pub fn joined(listed: &[TcpSocket], ours: &BTreeSet<u64>) -> BTreeSet<u64> {
    let own = || listed.iter().filter(|socket| ours.contains(&socket.inode));
    let port = |place: &str| place.rsplit(':').next().map(str::to_owned);
    let is_joined = |socket: &&TcpSocket| {
        own().any(|other| {
            other.inode != socket.inode
                && if socket.listens {
                    port(&other.remote) == port(&socket.local)
                } else {
                    other.local == socket.remote && other.remote == socket.local
                }
        })
    };
    own().filter(is_joined).map(|socket| socket.inode).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;

    fn inode(socket: &impl AsFd) -> u64 {
        rustix::fs::fstat(socket).unwrap().st_ino
    }

    #[test]
    fn both_sides_of_a_connection_on_this_machine_are_joined() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (far, _) = listener.accept().unwrap();
            let alone = TcpListener::bind(address).unwrap();
            let listed = Root::system().tcp_sockets(std::process::id().cast_signed());
            let ours = BTreeSet::from([inode(&near), inode(&far), inode(&listener), inode(&alone)]);
            let all = BTreeSet::from([inode(&near), inode(&far), inode(&listener)]);
            assert_eq!(joined(&listed, &ours), all, "{address}");
            assert_eq!(joined(&listed, &BTreeSet::from([inode(&near)])), BTreeSet::new());
        }
    }

    #[test]
    fn an_ipv4_address_in_ipv6_form_is_the_same_place() {
        let line = "   1: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0";
        let socket = parse(line).unwrap();
        assert_eq!((socket.local.as_str(), socket.inode), ("0100007F:1F90", 4711));
    }
}
