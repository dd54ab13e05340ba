"""Find plugins by file name: to add a check, a reader or a warehouse, add one file or folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Generic, TypeVar

from goldsmith.errors import GoldsmithError, nearest, one_of

T = TypeVar("T")


@dataclass(eq=False, kw_only=True)
class UnknownName(GoldsmithError):
    """A row or a command names something that no file provides."""

    noun: str
    name: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"There is no {self.noun} called '{self.name}'."

    @property
    def hint(self) -> str:
        guess = nearest(self.name, self.known)
        return (f"Did you mean '{guess}'? " if guess else "") + f"Known: {one_of(self.known)}."


class Registry(Generic[T]):
    """The plugins of one kind, one per file or entry point, imported on first use."""

    def __init__(self, noun: str, *, package: str, kind: type[T], file: str | None = None) -> None:
        self.noun = noun
        self.package = package
        self.kind = kind
        #: Each plugin is a folder, and this file of it declares the plugin.
        self.file = file

    @cached_property
    def _files(self) -> frozenset[str]:
        spec = find_spec(self.package)
        folders = [Path(location) for location in (spec and spec.submodule_search_locations) or ()]
        pattern = "[a-z]*.py" if self.file is None else f"[a-z]*/{self.file}.py"
        found = [file for folder in folders for file in folder.glob(pattern)]
        return frozenset(f.stem if self.file is None else f.parent.name for f in found)

    @cached_property
    def _plugins(self) -> dict[str, object]:
        return {point.name: point for point in entry_points(group=self.package)}

    def names(self) -> tuple[str, ...]:
        """Every known name, sorted; imports nothing."""
        return tuple(sorted(self._files | self._plugins.keys()))

    def shipped(self) -> tuple[str, ...]:
        """The names of our own plugins, sorted; reads no entry points."""
        return tuple(sorted(self._files))

    def __contains__(self, name: str) -> bool:
        return name in self._files or name in self._plugins

    def get(self, name: str) -> T:
        """The plugin of that name; raise UnknownName if there is none."""
        if name in self._files:
            module = f"{self.package}.{name}" if self.file is None else self._module(name)
            thing = getattr(import_module(module), name)
        elif name in self._plugins:
            thing = self._plugins[name].load()  # type: ignore[attr-defined]
        else:
            raise UnknownName(noun=self.noun, name=name, known=self.names())
        if not isinstance(thing, self.kind):
            raise TypeError(f"{self.package}.{name} is not a {self.kind.__name__}")
        return thing

    def _module(self, name: str) -> str:
        return f"{self.package}.{name}.{self.file}"

    def all(self) -> Iterator[tuple[str, T]]:
        """Every plugin with its name."""
        for name in self.names():
            yield name, self.get(name)
