"""Owners: the processes that hold leases, distinguished even when a pid is reused.

An owner is `host:pid:start`. The host part also names the boot and the pid namespace, so that
two containers or machines with the same name never take each other's processes for their own.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """A process that may hold leases and run requests."""

    host: str
    pid: int
    #: When it started, in the kernel's ticks since boot; empty if unknown.
    start: str = ""

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}:{self.start}"

    @classmethod
    def this_process(cls) -> Owner:
        pid = os.getpid()
        return cls(host=this_host(), pid=pid, start=_start_of(pid) or "")

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        """The owner in a row; None if the text is not in Goldsmith's format."""
        host, _, rest = text.partition(":")
        pid, _, start = rest.partition(":")
        return cls(host=host, pid=int(pid), start=start) if pid.isdecimal() else None

    @property
    def is_gone(self) -> bool:
        """Certainly dead: it ran on this host and has ended. False for other hosts: unknown."""
        if self.host != this_host():
            return False
        if not _PROC.joinpath("self", "stat").exists():
            return not _answers(self.pid)
        start = _start_of(self.pid)
        return start is None or (self.start != "" and start != self.start)


def is_gone(owner: str | None) -> bool:
    """Whether the process named in a row is certainly dead."""
    parsed = Owner.parse(owner) if owner else None
    return parsed is not None and parsed.is_gone


@cache
def this_host() -> str:
    """The name of this machine, with its boot and pid namespace."""
    name = socket.gethostname().replace(":", "_")
    try:
        boot = _PROC.joinpath("sys/kernel/random/boot_id").read_text()[:8]
        namespace = os.readlink(_PROC / "self/ns/pid").strip("pid:[]")
    except OSError:
        return name
    return f"{name}/{boot}/{namespace}"


def _start_of(pid: int) -> str | None:
    """The start time of a living process; None if there is no such process."""
    try:
        stat = _PROC.joinpath(str(pid), "stat").read_text()
    except OSError:
        return None
    # The process name in brackets may itself contain spaces and brackets.
    fields = stat.rpartition(")")[2].split()
    state, start = fields[0], fields[19]
    return None if state in "ZX" else start


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
