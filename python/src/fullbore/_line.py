"""From commands to a line for the shell, and to the words that start fullbore."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Optional, Union

Word = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Command = Union[str, Sequence[Word]]

# bash reads this before the line (BASH_ENV). At its end, it writes the status of every stage of the last pipeline.
_STATUS_SCRIPT = r"""
printf -v FULLBORE_PIPESTATUS %q "$FULLBORE_PIPESTATUS"
trap "printf '%s ' \"\${PIPESTATUS[@]}\" > $FULLBORE_PIPESTATUS" EXIT
unset FULLBORE_PIPESTATUS BASH_ENV
if [ -n "${FULLBORE_BASH_ENV+set}" ]; then
    export BASH_ENV=$FULLBORE_BASH_ENV
    unset FULLBORE_BASH_ENV
    [ ! -r "$BASH_ENV" ] || . "$BASH_ENV"
fi
"""

# What a shell does itself, or takes for grammar. A program of that name runs with `exec` in front.
_SHELL_WORDS = frozenset(
    ". : [ [[ alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs disown do done "
    "echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history if in jobs kill let local "
    "logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source suspend test then time times "
    "trap true type typeset ulimit umask unalias unset until wait while".split()
)


class Line:
    """What is to run: a line for a shell, or one command without a shell."""

    __slots__ = ("commands", "shell", "text", "words")

    def __init__(self, commands: Sequence[Command], shell: Optional[str], env: Optional[Mapping[str, str]]) -> None:
        if not commands:
            raise TypeError("nothing to run: give a line, such as 'zcat e.gz | sort', or a list of words for each stage")
        self.commands = list(commands)
        self.words: Optional[list[str]] = None
        if all(isinstance(command, str) for command in commands):
            if len(commands) > 1:
                raise TypeError("more than one line. Stages are lists of words: run(['zcat', 'e.gz'], ['sort'])")
            self.text = str(commands[0])
        elif any(isinstance(command, (str, bytes)) for command in commands):
            raise TypeError("give either one line, or a list of words for each stage")
        else:
            stages = [words_of(command) for command in commands]
            self.text = " | ".join(map(_quoted, stages))
            if len(stages) == 1 and shell is None:
                self.words = stages[0]
        self.shell = shell or _default_shell(env)

    @property
    def tells_statuses(self) -> bool:
        return self.words is None and os.path.basename(self.shell) == "bash"

    def arguments(self) -> list[str]:
        """The end of the words of `fullbore run`."""
        if self.words is not None:
            return ["--", *self.words]
        # A line that begins with a minus is no option.
        return ["--shell", self.shell, " " + self.text if self.text.startswith("-") else self.text]

    def environment(self, env: Optional[Mapping[str, str]], statuses: str) -> Optional[Mapping[str, str]]:
        """The environment in which bash writes the statuses of all stages into the file `statuses`."""
        if not self.tells_statuses:
            return env
        env = dict(os.environ if env is None else env)
        if "BASH_ENV" in env:
            env["FULLBORE_BASH_ENV"] = env["BASH_ENV"]
        env["BASH_ENV"] = statuses + ".bash"
        with open(env["BASH_ENV"], "w", encoding="ascii") as script:
            script.write(_STATUS_SCRIPT)
        env["FULLBORE_PIPESTATUS"] = statuses
        return env


def words_of(command: Command) -> list[str]:
    words = [os.fsdecode(word) for word in command]
    if not words or not words[0]:
        raise ValueError("a stage needs a program: its list of words is empty, or the first word is")
    return words


def _quoted(words: list[str]) -> str:
    import shlex

    text = shlex.join(words)
    plain = words[0] not in _SHELL_WORDS and not set(words[0]) & set("=~!%{}")
    return text if plain else "exec " + text


def _default_shell(env: Optional[Mapping[str, str]]) -> str:
    """bash where there is one, because no other shell tells the statuses of all stages; else sh."""
    path = (os.environ if env is None else env).get("PATH", os.defpath)
    if path not in _shells:
        there = any(os.access(os.path.join(folder, "bash"), os.X_OK) for folder in path.split(os.pathsep))
        _shells[path] = "bash" if there else "sh"
    return _shells[path]


_shells: dict[str, str] = {}
