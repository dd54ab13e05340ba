"""Owners: the processes that hold leases, told apart even when a pid is used again.

An owner is `host:pid:start`. The host part also names the boot and the pid namespace, so that
two containers or two machines of one name never judge each other's processes.
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
    """A process that may hold leases and carry out requests."""

    host: str
    pid: int
    #: When it started, in the kernel's ticks since boot; empty where that cannot be known.
    start: str = ""

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}:{self.start}"

    @classmethod
    def this_process(cls) -> Owner:
        pid = os.getpid()
        return cls(host=this_host(), pid=pid, start=_start_of(pid) or "")

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        """The owner a row names; None where it was not written by us."""
        host, _, rest = text.partition(":")
        pid, _, start = rest.partition(":")
        return cls(host=host, pid=int(pid), start=start) if pid.isdecimal() else None

    @property
    def is_gone(self) -> bool:
        """Surely dead: it lived on this host and is no more. Elsewhere nobody here can say."""
        if self.host != this_host():
            return False
        if not _PROC.joinpath("self", "stat").exists():
            return not _answers(self.pid)
        start = _start_of(self.pid)
        return start is None or (self.start != "" and start != self.start)


def is_gone(owner: str | None) -> bool:
    """The process a row names is surely dead."""
    parsed = Owner.parse(owner) if owner else None
    return parsed is not None and parsed.is_gone


@cache
def this_host() -> str:
    """This machine, this boot, this pid namespace."""
    name = socket.gethostname().replace(":", "_")
    try:
        boot = _PROC.joinpath("sys/kernel/random/boot_id").read_text()[:8]
        namespace = os.readlink(_PROC / "self/ns/pid").strip("pid:[]")
    except OSError:
        return name
    return f"{name}/{boot}/{namespace}"


def _start_of(pid: int) -> str | None:
    """The start time of a living process; None when there is none."""
    try:
        stat = _PROC.joinpath(str(pid), "stat").read_text()
    except OSError:
        return None
    # The name in brackets may hold spaces and brackets of its own.
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
