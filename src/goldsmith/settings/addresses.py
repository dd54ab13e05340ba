"""What the catalog's s3:// addresses really are in one environment, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from goldsmith.settings.errors import UnsafeAddress

_SCHEMES = ("s3://", "s3a://", "s3n://")


@dataclass(frozen=True, kw_only=True)
class Binding:
    """One prefix of the catalog's and where it really is; both end with a slash."""

    prefix: str
    real: str


@dataclass(frozen=True, kw_only=True)
class Bindings:
    """All bindings of an environment; the longest prefix that fits is used."""

    #: Longest prefix first; the last one fits every s3:// address.
    all: tuple[Binding, ...]

    @classmethod
    def of(cls, bind: Mapping[str, str], otherwise: str) -> Bindings:
        """The bindings that were said, and one for every other address."""
        said = [
            Binding(prefix=_slashed(_as_s3(prefix)), real=_slashed(_as_s3(real)))
            for prefix, real in bind.items()
        ]
        said.append(Binding(prefix="s3://", real=_slashed(otherwise)))
        return cls(all=tuple(sorted(said, key=lambda one: -len(one.prefix))))

    def address(self, address: str) -> str:
        """Where an s3:// address really is; an address of another kind is real already."""
        if not address.startswith(_SCHEMES):
            return address
        plain = _as_s3(address)
        _refuse_unsafe(plain)
        for one in self.all:
            if plain.startswith(one.prefix):
                return one.real + plain[len(one.prefix) :]
            if plain + "/" == one.prefix:
                return one.real[:-1] or "/"
        raise UnsafeAddress(address=address, reason="nothing is bound to it")

    def catalog_address(self, real: str) -> str:
        """What the catalog calls a real place; a place no address leads to keeps its name."""
        plain = _as_s3(real)
        if plain.startswith("file:"):
            plain = "/" + plain.removeprefix("file:").lstrip("/")
        for one in sorted(self.all, key=lambda one: -len(one.real)):
            if plain.startswith(one.real):
                found = one.prefix + plain[len(one.real) :]
            elif plain + "/" == one.real:
                found = one.prefix[:-1]
            else:
                continue
            # A longer prefix may take the address elsewhere: then this is not its name.
            if self._leads(found) == plain:
                return found
        return real

    def _leads(self, address: str) -> str | None:
        try:
            return self.address(address)
        except UnsafeAddress:
            return None


def _as_s3(address: str) -> str:
    """`s3a://` and `s3n://` are Hadoop's words for the same place."""
    for scheme in _SCHEMES[1:]:
        if address.startswith(scheme):
            return "s3://" + address[len(scheme) :]
    return address


def _slashed(prefix: str) -> str:
    return prefix if prefix.endswith("/") else prefix + "/"


def _refuse_unsafe(address: str) -> None:
    bucket, *keys = address.removeprefix("s3://").split("/")
    if not bucket:
        raise UnsafeAddress(address=address, reason="it names no bucket")
    # Hadoop shortens `a/../b` on S3 as a file system does: either way it would lead out.
    if any(part in (".", "..") for part in (bucket, *keys)):
        raise UnsafeAddress(address=address, reason="'.' and '..' are no names")
    if "\0" in address or "\\" in bucket or os.path.isabs(bucket):
        raise UnsafeAddress(address=address, reason="it has characters no bucket may have")


def problems(bind: Mapping[str, str]) -> list[str]:
    """What is wrong with bindings as they were said."""
    found: list[str] = []
    taken: dict[str, str] = {}
    for prefix, real in bind.items():
        if not prefix.startswith(_SCHEMES):
            found.append(f"'storage.bind' takes s3:// prefixes; '{prefix}' is none.")
            continue
        if "://" in real and not real.startswith(_SCHEMES):
            found.append(f"'storage.bind' leads '{prefix}' to '{real}': neither s3:// nor a path.")
        if ".." in real.split("/"):
            found.append(f"'storage.bind' leads '{prefix}' to '{real}': '..' is no name.")
        place = _slashed(_as_s3(real))
        if place in taken:
            found.append(f"'storage.bind' leads both '{taken[place]}' and '{prefix}' to '{real}'.")
        taken[place] = prefix
    return found
