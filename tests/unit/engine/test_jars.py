"""The cache of jars: what is fetched, what is left alone, what is refused."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from goldsmith.setup import jars
from goldsmith.setup.jars import Jar, JarDiffers, JarsMissing, JarsNotFetched, fetch, paths

ONE, TWO = b"the first jar", b"the second jar"


class Registry:
    """Has some files, and remembers what it was asked for."""

    def __init__(self, files: dict[str, bytes], reason: str = "") -> None:
        self.files = files
        self.reason = reason
        self.fetched: list[str] = []

    def __call__(self, wanted: Sequence[Jar], into: Path) -> str:
        self.fetched += [jar.file for jar in wanted]
        for jar in wanted:
            if jar.file in self.files:
                (into / jar.file).write_bytes(self.files[jar.file])
        return self.reason


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    file = tmp_path / "jars.lock"
    lines = [
        f"org.example:one:1.0 {hashlib.sha256(ONE).hexdigest()}",
        f"org.example:two_2.13:2.5 {hashlib.sha256(TWO).hexdigest()}",
    ]
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "jars"


@pytest.fixture
def registry() -> Registry:
    return Registry({"one-1.0.jar": ONE, "two_2.13-2.5.jar": TWO})


def quiet(line: str) -> None:
    """Nobody watches."""


def test_jars_are_fetched_into_the_folder_in_the_order_of_the_lock(
    folder: Path, lock: Path, registry: Registry
) -> None:
    messages: list[str] = []
    found = fetch(messages.append, folder, lock=lock, bring=registry)
    assert [file.name for file in found] == ["one-1.0.jar", "two_2.13-2.5.jar"]
    assert [file.read_bytes() for file in found] == [ONE, TWO]
    assert messages == ["Fetching 2 of 2 jars", f"2 jars in {folder}"]
    assert paths(folder, lock=lock) == found


def test_nothing_is_fetched_twice(folder: Path, lock: Path, registry: Registry) -> None:
    fetch(quiet, folder, lock=lock, bring=registry)
    registry.fetched.clear()
    fetch(quiet, folder, lock=lock, bring=registry)
    assert registry.fetched == []


def test_only_what_is_missing_or_cut_short_is_fetched(
    folder: Path, lock: Path, registry: Registry
) -> None:
    first, second = fetch(quiet, folder, lock=lock, bring=registry)
    registry.fetched.clear()
    first.write_bytes(ONE[:5])
    with pytest.raises(JarsMissing, match=r"one-1\.0\.jar"):
        paths(folder, lock=lock)
    fetch(quiet, folder, lock=lock, bring=registry)
    assert registry.fetched == ["one-1.0.jar"]
    assert first.read_bytes() == ONE
    assert second.read_bytes() == TWO


def test_jars_that_are_there_but_were_never_checked_are_checked_without_fetching(
    folder: Path, lock: Path, registry: Registry
) -> None:
    folder.mkdir(parents=True)
    (folder / "one-1.0.jar").write_bytes(ONE)
    (folder / "two_2.13-2.5.jar").write_bytes(b"another file")
    fetch(quiet, folder, lock=lock, bring=registry)
    assert registry.fetched == ["two_2.13-2.5.jar"]


def test_a_jar_with_a_wrong_sum_is_refused_by_name_and_not_kept(folder: Path, lock: Path) -> None:
    forged = Registry({"one-1.0.jar": ONE, "two_2.13-2.5.jar": b"forged"})
    with pytest.raises(JarDiffers) as refused:
        fetch(quiet, folder, lock=lock, bring=forged)
    assert refused.value.facts == {
        "jar": "two_2.13-2.5.jar",
        "expected": hashlib.sha256(TWO).hexdigest(),
        "found": hashlib.sha256(b"forged").hexdigest(),
    }
    assert str(refused.value.expected) in str(refused.value)
    assert [name for name in os.listdir(folder) if name.endswith(".jar")] == ["one-1.0.jar"]


def test_what_came_before_the_network_failed_is_kept(
    folder: Path, lock: Path, registry: Registry
) -> None:
    broken = Registry({"one-1.0.jar": ONE}, reason="connection refused")
    with pytest.raises(JarsNotFetched, match=r"two_2\.13-2\.5\.jar .*: connection refused\."):
        fetch(quiet, folder, lock=lock, bring=broken)
    with pytest.raises(JarsMissing):
        paths(folder, lock=lock)
    fetch(quiet, folder, lock=lock, bring=registry)
    assert registry.fetched == ["two_2.13-2.5.jar"]


def test_what_an_interrupted_fetch_left_is_swept(
    folder: Path, lock: Path, registry: Registry
) -> None:
    left = folder / ".fetching-abc" / "cache-0"
    left.mkdir(parents=True)
    fetch(quiet, folder, lock=lock, bring=registry)
    assert not left.parent.exists()


def test_missing_jars_are_an_error_that_says_how_to_get_them(folder: Path, lock: Path) -> None:
    with pytest.raises(JarsMissing, match=r"one-1\.0\.jar, two_2\.13-2\.5\.jar") as missing:
        paths(folder, lock=lock)
    assert "goldsmith setup" in missing.value.hint
    assert not folder.exists()


def test_a_new_lock_is_checked_anew(folder: Path, lock: Path, registry: Registry) -> None:
    fetch(quiet, folder, lock=lock, bring=registry)
    lock.write_text(lock.read_text().splitlines()[0] + "\n")
    with pytest.raises(JarsMissing):
        paths(folder, lock=lock)
    assert len(fetch(quiet, folder, lock=lock, bring=registry)) == 1


def test_a_fetch_that_java_cannot_do_says_why(
    tmp_path: Path, folder: Path, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "home" / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(
        "#!/bin/sh\necho 'Server access error at url X (java.net.ConnectException: refused)'\n"
        "exit 1\n"
    )
    command.chmod(0o755)
    (tmp_path / "home" / "release").write_text('JAVA_VERSION="17.0.1"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    with pytest.raises(JarsNotFetched, match=r"2 jars .*: java\.net\.ConnectException: refused\."):
        fetch(quiet, folder, lock=lock)


def test_the_lock_of_the_project_names_each_file_once() -> None:
    locked = jars._read(jars.LOCK.read_bytes())
    assert len({jar.file for jar in locked}) == len(locked) > 40
    assert all(len(jar.sha256) == 64 for jar in locked)
