//! Making what the messages go through: two descriptors for each side, what comes in and what goes out.

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use fullbore_measure::Bytes;
use rustix::event::{EventfdFlags, eventfd};
use rustix::net::sockopt::{set_socket_send_buffer_size, socket_send_buffer_size};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::super::peers::failed;
use super::super::pipe::new_pipe;
use super::plan::Plan;
use super::{mqueue, shm};
use crate::EngineError;

/// Input and output of the near and of the far side.
pub(super) fn lay(plan: &Plan) -> Result<[Vec<OwnedFd>; 2], EngineError> {
    let fail = |error: std::io::Error| failed(&plan.kind, &error);
    match plan.kind.as_str() {
        "pipe" | "uring-pipe" => {
            let one = || new_pipe(Bytes(plan.buffer as u64));
            let ((far_in, near_out), (near_in, far_out)) = (one()?, one()?);
            Ok([vec![near_in, near_out], vec![far_in, far_out]])
        }
        "socketpair-stream" => both_ways(pair(SocketType::STREAM).map_err(fail)?).map_err(fail),
        "unix-datagram" => {
            let ends = pair(SocketType::DGRAM).map_err(fail)?;
            make_room(&ends, plan.message)?;
            both_ways(ends).map_err(fail)
        }
        "unix-stream" => both_ways(unix_connection().map_err(fail)?).map_err(fail),
        "tcp" => both_ways(tcp_connection().map_err(fail)?).map_err(fail),
        "eventfd" => {
            let one = || eventfd(0, EventfdFlags::CLOEXEC).map_err(Into::into).map_err(fail);
            same_for_both([one()?, one()?]).map_err(fail)
        }
        "mqueue" => {
            let one = || mqueue::create(plan.message);
            same_for_both([one()?, one()?]).map_err(fail)
        }
        _ => {
            let one = || shm::create(plan.buffer);
            same_for_both([one()?, one()?]).map_err(fail)
        }
    }
}

/// A connection is input and output at once.
fn both_ways([near, far]: [OwnedFd; 2]) -> std::io::Result<[Vec<OwnedFd>; 2]> {
    Ok([vec![near.try_clone()?, near], vec![far.try_clone()?, far]])
}

/// What has no ends is the output of one side and the input of the other.
fn same_for_both([there, back]: [OwnedFd; 2]) -> std::io::Result<[Vec<OwnedFd>; 2]> {
    Ok([vec![back.try_clone()?, there.try_clone()?], vec![there, back]])
}

fn pair(kind: SocketType) -> std::io::Result<[OwnedFd; 2]> {
    let (near, far) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
    Ok([near, far])
}

/// A datagram must fit into the sender's buffer with what Linux adds to it.
///
/// Source: unix(7), socket(7) SO_SNDBUF.
fn make_room(ends: &[OwnedFd; 2], message: usize) -> Result<(), EngineError> {
    for end in ends {
        let fail = |errno: rustix::io::Errno| failed("SO_SNDBUF", &errno.into());
        let needed = 2 * message + 4096;
        if socket_send_buffer_size(end).map_err(fail)? < needed {
            set_socket_send_buffer_size(end, needed).map_err(fail)?;
        }
        let granted = socket_send_buffer_size(end).map_err(fail)?;
        // Linux doubles what it grants, to have room for its own part.
        if granted < message + 4096 {
            return Err(EngineError::Unavailable {
                what: format!("a datagram of {message} bytes: the send buffer has {granted}"),
                remedy: format!("sysctl net.core.wmem_max={needed}"),
            });
        }
    }
    Ok(())
}

/// An abstract name: it is gone with the socket.
fn unix_connection() -> std::io::Result<[OwnedFd; 2]> {
    let name = format!("fullbore-lab-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(name)?;
    let listener = UnixListener::bind_addr(&address)?;
    let near = UnixStream::connect_addr(&address)?;
    let (far, _) = listener.accept()?;
    Ok([near.into(), far.into()])
}

fn tcp_connection() -> std::io::Result<[OwnedFd; 2]> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, from) = listener.accept()?;
    // Anyone on this machine can connect to the port.
    if from != near.local_addr()? {
        return Err(std::io::Error::other("another process connected"));
    }
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    Ok([near.into(), far.into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_beyond_the_limit_names_the_setting() {
        let ends = pair(SocketType::DGRAM).unwrap();
        let error = make_room(&ends, 1 << 29).unwrap_err().to_string();
        assert!(error.contains("sysctl net.core.wmem_max="), "{error}");
    }
}
