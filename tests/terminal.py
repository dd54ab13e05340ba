"""A real pseudo-terminal: what people see of a command."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a command wrote on its terminal, and how it ended."""

    code: int
    text: str


def goldsmith(
    *arguments: str | bytes, cwd: Path, columns: int = 100, env: Mapping[str, str] | None = None
) -> Shown:
    """Run a goldsmith command on a terminal so many columns wide."""
    command = [sys.executable, "-c", "from goldsmith.cli.main import main; main()", *arguments]
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            os.chdir(cwd)
            os.execve(command[0], command, {**os.environ, "TERM": "xterm", **(env or {})})
        finally:
            os._exit(127)
    written = bytearray()
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the last process that had the terminal ended
            break
        if not part:
            break
        written += part
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return Shown(
        code=os.waitstatus_to_exitcode(status), text=written.decode("utf-8", "surrogateescape")
    )
