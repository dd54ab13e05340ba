"""Map the catalog's s3:// addresses to the real addresses of one environment, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from goldsmith.settings.errors import UnsafeAddress

_SCHEMES = ("s3://", "s3a://", "s3n://")


@dataclass(frozen=True, kw_only=True)
class Binding:
    """One s3:// prefix of the catalog and its real address; both end with a slash."""

    prefix: str
    real: str


@dataclass(frozen=True, kw_only=True)
class Bindings:
    """All bindings of an environment; the longest matching prefix is used."""

    #: Longest prefix first; the last one matches every s3:// address.
    all: tuple[Binding, ...]

    @classmethod
    def of(cls, bind: Mapping[str, str], otherwise: str) -> Bindings:
        """The bindings of the settings, and one for every other address."""
        bindings = [
            Binding(prefix=_slashed(_as_s3(prefix)), real=_slashed(_as_s3(real)))
            for prefix, real in bind.items()
        ]
        bindings.append(Binding(prefix="s3://", real=_slashed(otherwise)))
        return cls(all=tuple(sorted(bindings, key=lambda binding: -len(binding.prefix))))

    def address(self, address: str) -> str:
        """The real address of an s3:// address; any other address is returned unchanged."""
        if not address.startswith(_SCHEMES):
            return address
        plain = _as_s3(address)
        _refuse_unsafe(plain)
        for binding in self.all:
            if plain.startswith(binding.prefix):
                return binding.real + plain[len(binding.prefix) :]
            if plain + "/" == binding.prefix:
                return binding.real[:-1] or "/"
        raise UnsafeAddress(address=address, reason="nothing is bound to it")

    def catalog_address(self, real: str) -> str:
        """The catalog's address of a real address; without a binding it is returned unchanged."""
        plain = _as_s3(real)
        if plain.startswith("file:"):
            plain = "/" + plain.removeprefix("file:").lstrip("/")
        for binding in sorted(self.all, key=lambda binding: -len(binding.real)):
            if plain.startswith(binding.real):
                found = binding.prefix + plain[len(binding.real) :]
            elif plain + "/" == binding.real:
                found = binding.prefix[:-1]
            else:
                continue
            # A longer prefix may map the address elsewhere: then this is not its address.
            if self._leads(found) == plain:
                return found
        return real

    def _leads(self, address: str) -> str | None:
        try:
            return self.address(address)
        except UnsafeAddress:
            return None


def _as_s3(address: str) -> str:
    """`s3a://` and `s3n://` are Hadoop's schemes for the same address."""
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
    # Hadoop resolves `a/../b` on S3 as a file system does: it would lead out of the prefix.
    if any(part in (".", "..") for part in (bucket, *keys)):
        raise UnsafeAddress(address=address, reason="'.' and '..' are no names")
    if "\0" in address or "\\" in bucket or os.path.isabs(bucket):
        raise UnsafeAddress(address=address, reason="it has characters no bucket may have")


def problems(bind: Mapping[str, str]) -> list[str]:
    """The problems of the setting `storage.bind`."""
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
        address = _slashed(_as_s3(real))
        if address in taken:
            found.append(
                f"'storage.bind' leads both '{taken[address]}' and '{prefix}' to '{real}'."
            )
        taken[address] = prefix
    return found
