"""What ends a command: a message and a hint, in the form of the program's own messages."""

from __future__ import annotations

import sys


class Failure(Exception):
    """The command cannot go on. `hint` says what to try."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Interrupted(BaseException):
    """A signal asked the command to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def complain(command: str, message: str, hint: str = "") -> None:
    """Writes to standard error; control characters of strangers never reach the terminal."""
    lines = [f"fullbore: {command}: {message}"] + ([f"hint: {hint}"] if hint else [])
    say("".join(visible(line) + "\n" for line in lines))


def say(text: str) -> None:
    """Writes to standard error in one piece; if nobody is left to tell, that is no failure."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass


def visible(text: str) -> str:
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
