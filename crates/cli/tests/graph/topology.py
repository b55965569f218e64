"""Processes that hold random ends of random pipes, FIFOs and socket pairs: topology.py SEED FOLDER.

Prints what it made, as JSON, once every process sleeps: the number of each process, and for each channel who writes and who
reads it. Goes on until its standard input ends.
"""

import json
import os
import random
import socket
import sys

seed, folder = int(sys.argv[1]), sys.argv[2]
choose = random.Random(seed)
count = choose.randint(2, 7)


def channel(number):
    """Opens a channel; returns its kind, the end that is read, and the one that is written."""
    kind = choose.choice(["pipe", "pipe", "fifo", "socket pair"])
    if kind == "pipe":
        return kind, *os.pipe()
    if kind == "fifo":
        path = os.path.join(folder, f"fifo{seed}.{number}")
        os.mkfifo(path)
        read = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        return kind, read, os.open(path, os.O_WRONLY)
    # One direction is closed, as ksh93 does it: else it is no pipe.
    read, write = (end.detach() for end in socket.socketpair())
    socket.socket(fileno=os.dup(read)).shutdown(socket.SHUT_WR)
    socket.socket(fileno=os.dup(write)).shutdown(socket.SHUT_RD)
    return kind, read, write


def some(of):
    """One of them, sometimes two."""
    return choose.sample(of, min(len(of), choose.choice([1, 1, 1, 2])))


ends = [[] for _ in range(count)]
channels = []
for number in range(choose.randint(1, min(count + 1, 5))):
    kind, read, write = channel(number)
    if choose.random() < 0.15:
        # For itself: no connection.
        writers = readers = [choose.randrange(count)]
    else:
        order = choose.sample(range(count), count)
        cut = choose.randint(1, count - 1)
        writers, readers = some(order[:cut]), some(order[cut:])
    for process in writers:
        ends[process].append(write)
    for process in readers:
        ends[process].append(read)
    channels.append({"kind": kind, "writers": sorted(writers), "readers": sorted(readers)})


def become(process):
    """Holds its ends and no others, some of them twice, and sleeps; the others are closed by execve(2)."""
    # Out of the way first: shells leave descriptors open by mistake from 10 on, so these would count as such.
    held = [os.dup2(end, 100 + number) for number, end in enumerate(ends[process])]
    free = choose.sample(range(10), 10)
    for end in held:
        for _ in range(choose.choice([1, 1, 2]) if len(free) > len(held) else 1):
            if free:
                os.dup2(end, free.pop(), inheritable=True)
    os.closerange(10, 1000)
    used = set(range(10)) - set(free)
    for number in set(range(10)) - used:
        try:
            os.close(number)
        except OSError:
            pass
    os.execvp("sleep", ["sleep", f"{100000 + process}"])


pids = []
for process in range(count):
    ready, told = os.pipe()  # closed by execve(2)
    pid = os.fork()
    if pid == 0:
        # Out of the way of what is closed before execve(2).
        os.dup2(told, 2000, inheritable=False)
        choose.seed(seed * 100 + process)
        if choose.random() < 0.2 and os.fork() == 0:
            # A copy that works for the same stage.
            os.setpgid(0, 0)
        become(process)
    pids.append(pid)
    os.close(told)
    os.read(ready, 1)
    os.close(ready)
os.closerange(3, 1000)
print(json.dumps({"pids": pids, "channels": channels}), flush=True)
sys.stdin.read()
