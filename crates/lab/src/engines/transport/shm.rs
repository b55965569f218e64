//! A ring of bytes between one giver and one taker, in memory that both map.
//!
//! Both counters only rise (and wrap): `Produced` is written by the giver alone, `Consumed` by the taker alone, and
//! their difference is what is in the ring. Bytes are copied before the counter is stored with Release, and the
//! counter is loaded with Acquire before bytes are copied.
//!
//! Waiting with futex: who waits sets its flag, looks at the counter again, and sleeps for as long as the flag is set; who
//! changes the counter takes the flag away afterwards. All are SeqCst: either the flag is seen, or the change is. It
//! sleeps on the flag and not on the counter, because a flag may also be taken away for a change that was seen already:
//! asleep without a flag, nobody would wake it.

use std::hint::spin_loop;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use fullbore_apparatus::passing::{Counter, SharedRing};
use rustix::io::Errno;
use rustix::thread::futex;

use super::super::peers::failed;
use super::channel::Channel;
use crate::EngineError;

/// Memory without a name for a ring of `capacity` bytes, all zero.
pub(super) fn create(capacity: usize) -> Result<OwnedFd, EngineError> {
    SharedRing::create(capacity).map_err(short)
}

fn short(error: io::Error) -> EngineError {
    failed("shared memory", &error)
}

/// How an empty or full ring is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Asleep.
    Futex,
    /// Looking again and again.
    Spin,
}

/// One direction.
#[derive(Debug)]
pub(super) struct Ring {
    shared: SharedRing,
    wait: Wait,
}

impl Ring {
    /// Over a mapping.
    pub(super) fn new(shared: SharedRing, wait: Wait) -> Self {
        Self { shared, wait }
    }

    /// Puts in what fits; returns how much that was. For the one giver.
    pub(super) fn try_put(&self, bytes: &[u8]) -> usize {
        let produced = self.shared.counter(Counter::Produced).load(Relaxed);
        let consumed = self.shared.counter(Counter::Consumed).load(Acquire);
        let room = self.shared.capacity() - produced.wrapping_sub(consumed) as usize;
        let count = bytes.len().min(room);
        self.shared.put(produced, &bytes[..count]);
        self.advance(Counter::Produced, produced, count, Counter::TakerWaits);
        count
    }

    /// Takes out what is there; returns how much that was. For the one taker.
    pub(super) fn try_take(&self, bytes: &mut [u8]) -> usize {
        let consumed = self.shared.counter(Counter::Consumed).load(Relaxed);
        let produced = self.shared.counter(Counter::Produced).load(Acquire);
        let count = bytes.len().min(produced.wrapping_sub(consumed) as usize);
        self.shared.take(consumed, &mut bytes[..count]);
        self.advance(Counter::Consumed, consumed, count, Counter::GiverWaits);
        count
    }

    /// Adds `count`, and wakes who waits for it.
    fn advance(&self, counter: Counter, from: u32, count: usize, waits: Counter) {
        if count == 0 {
            return;
        }
        // At most the capacity, which fits.
        let to = from.wrapping_add(u32::try_from(count).unwrap_or(0));
        let (counter, flag) = (self.shared.counter(counter), self.shared.counter(waits));
        match self.wait {
            Wait::Spin => counter.store(to, Release),
            Wait::Futex => {
                counter.store(to, SeqCst);
                if flag.swap(0, SeqCst) == 1 {
                    // It cannot fail: the flag is mapped.
                    let _ = futex::wake(flag, futex::Flags::empty(), 1);
                }
            }
        }
    }

    /// Waits until a counter is not `seen`.
    fn wait_for(&self, counter: Counter, seen: u32, flag: Counter) -> io::Result<()> {
        let (counter, flag) = (self.shared.counter(counter), self.shared.counter(flag));
        if self.wait == Wait::Spin {
            while counter.load(Acquire) == seen {
                spin_loop();
            }
            return Ok(());
        }
        loop {
            flag.store(1, SeqCst);
            if counter.load(SeqCst) != seen {
                return Ok(());
            }
            sleep(flag)?;
        }
    }

    /// Puts all of it in.
    pub(super) fn put(&self, mut bytes: &[u8]) -> io::Result<()> {
        loop {
            // Before: what is seen now is what makes it full.
            let consumed = self.shared.counter(Counter::Consumed).load(Acquire);
            let count = self.try_put(bytes);
            bytes = &bytes[count..];
            if bytes.is_empty() {
                return Ok(());
            }
            if count == 0 {
                self.wait_for(Counter::Consumed, consumed, Counter::GiverWaits)?;
            }
        }
    }

    /// Takes until `bytes` are full.
    pub(super) fn take(&self, mut bytes: &mut [u8]) -> io::Result<()> {
        loop {
            let produced = self.shared.counter(Counter::Produced).load(Acquire);
            let count = self.try_take(bytes);
            bytes = &mut bytes[count..];
            if bytes.is_empty() {
                return Ok(());
            }
            if count == 0 {
                self.wait_for(Counter::Produced, produced, Counter::TakerWaits)?;
            }
        }
    }
}

/// Sleeps as long as the flag is set, or less.
fn sleep(flag: &AtomicU32) -> io::Result<()> {
    match futex::wait(flag, futex::Flags::empty(), 1, None) {
        Ok(()) | Err(Errno::INTR | Errno::AGAIN) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// One ring for each direction.
#[derive(Debug)]
pub(super) struct Rings {
    input: Ring,
    output: Ring,
}

impl Rings {
    /// Over memory that [`create`] made, perhaps in another process.
    pub(super) fn open(input: &OwnedFd, output: &OwnedFd, wait: Wait) -> Result<Self, EngineError> {
        let ring = |memory| Ok(Ring::new(SharedRing::map(memory).map_err(short)?, wait));
        Ok(Self { input: ring(input)?, output: ring(output)? })
    }
}

impl Channel for Rings {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.output.put(message)
    }

    fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        self.input.take(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::thread;

    fn two(wait: Wait) -> [Ring; 2] {
        let memory = create(4096).unwrap();
        [(); 2].map(|()| Ring::new(SharedRing::map(&memory).unwrap(), wait))
    }

    fn byte(number: usize) -> u8 {
        number.to_le_bytes()[0]
    }

    /// As if the counters had been counting for long.
    fn start_at(ring: &Ring, count: u32) {
        ring.shared.counter(Counter::Produced).store(count, SeqCst);
        ring.shared.counter(Counter::Consumed).store(count, SeqCst);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// A ring is a queue that holds 4096 bytes.
        #[test]
        fn steps_in_any_order_agree_with_a_queue(
            steps in prop::collection::vec((any::<bool>(), 0_usize..6000), 1..60),
            start in any::<u32>(),
        ) {
            let [giver, taker] = two(Wait::Futex);
            start_at(&giver, start);
            let mut model = VecDeque::new();
            let mut next = 0_u8;
            for (is_put, len) in steps {
                if is_put {
                    let bytes: Vec<u8> = (0..len).map(|i| byte(usize::from(next) + i)).collect();
                    let count = giver.try_put(&bytes);
                    prop_assert_eq!(count, len.min(4096 - model.len()));
                    model.extend(&bytes[..count]);
                    next = byte(usize::from(next) + count);
                } else {
                    let mut bytes = vec![0; len];
                    let count = taker.try_take(&mut bytes);
                    prop_assert_eq!(count, len.min(model.len()));
                    let expected: Vec<u8> = model.drain(..count).collect();
                    prop_assert_eq!(&bytes[..count], expected);
                }
            }
        }
    }

    #[test]
    fn a_wake_up_that_comes_between_the_look_and_the_sleep_is_not_lost() {
        let (done, is_done) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let [giver, taker] = two(Wait::Futex);
            giver.put(&[7; 64]).unwrap();
            // What `wait_for` does, and between its last look and its sleep the other side takes the flag away.
            giver.shared.counter(Counter::GiverWaits).store(1, SeqCst);
            taker.take(&mut [0; 64]).unwrap();
            sleep(giver.shared.counter(Counter::GiverWaits)).unwrap();
            done.send(()).unwrap();
        });
        let limit = std::time::Duration::from_secs(60);
        assert!(is_done.recv_timeout(limit).is_ok(), "asleep, and nobody knows");
    }

    #[test]
    fn messages_of_all_sizes_pass_in_order_between_threads() {
        for wait in [Wait::Futex, Wait::Spin] {
            let [giver, taker] = two(wait);
            start_at(&giver, u32::MAX - 5000);
            let lens: Vec<usize> = (0..3000).map(|i| 1 + i * i % 9000).collect();
            let lens = &lens;
            thread::scope(|scope| {
                scope.spawn(move || {
                    for (number, &len) in lens.iter().enumerate() {
                        giver.put(&vec![byte(number); len]).unwrap();
                    }
                });
                for (number, &len) in lens.iter().enumerate() {
                    let mut bytes = vec![0; len];
                    taker.take(&mut bytes).unwrap();
                    assert!(bytes.iter().all(|b| *b == byte(number)), "{wait:?}: message {number}");
                }
            });
        }
    }
}
