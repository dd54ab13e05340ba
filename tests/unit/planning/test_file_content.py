"""A touched or copied file has the content it had; a rewritten one has not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from goldsmith.credentials import Secrets
from goldsmith.settings.settings import Settings
from goldsmith.storage import file_content
from goldsmith.storage.file_content import (
    is_etag_of,
    look_again,
    renamed,
    same_content,
    with_checksums,
)
from goldsmith.storage.files import ListedFile, list_files
from goldsmith.storage.storage import Storage


class Folder:
    """Files in a folder of a project's own."""

    def __init__(self, project: Path) -> None:
        (project / "goldsmith.toml").write_text("")
        settings = Settings.load({}, project=project, environment=None, cwd=project)
        self.storage = Storage(settings, Secrets({}))
        self.root = Path(self.storage.address("s3://raw/in/"))
        self.root.mkdir(parents=True)
        self.at = 1_700_000_000

    def put(self, name: str, content: bytes) -> ListedFile:
        self.at += 1
        (self.root / name).write_bytes(content)
        os.utime(self.root / name, (self.at, self.at))
        return self.find(name)

    def find(self, name: str) -> ListedFile:
        return next(f for f in list_files("s3://raw/in/", self.storage) if f.path.endswith(name))

    def noted(self, file: ListedFile) -> str:
        return with_checksums([file], {}, self.storage)[0].noted_etag


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_touched_file_of_a_folder_has_its_content(folder: Folder) -> None:
    first = folder.put("a", b"one")
    noted = folder.noted(first)
    touched = folder.put("a", b"one")
    assert touched.etag != first.etag
    assert same_content([(touched, noted)], folder.storage) == [True]
    other = folder.put("a", b"two")
    assert same_content([(other, noted)], folder.storage) == [False]


def test_what_was_noted_without_a_checksum_is_never_taken_for_the_same(folder: Folder) -> None:
    first = folder.put("a", b"one")
    assert same_content([(folder.put("a", b"one"), first.etag)], folder.storage) == [False]


def test_a_file_too_large_for_a_checksum_is_never_taken_for_the_same(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = folder.noted(folder.put("a", b"one"))
    monkeypatch.setattr(file_content, "LARGEST", 2)
    again = folder.put("a", b"one")
    assert folder.noted(again) == again.etag
    assert same_content([(again, noted)], folder.storage) == [False]


def test_a_checksum_that_is_known_is_not_computed_again(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder.put("a", b"one")
    noted = folder.noted(file)
    monkeypatch.setattr(file_content, "_content", None)
    again = with_checksums([file], {file.path: (file.size, noted)}, folder.storage)
    assert [file_.noted_etag for file_ in again] == [noted]


def test_a_file_that_changed_or_went_after_it_was_listed_is_seen(folder: Folder) -> None:
    files = [folder.put(name, b"one") for name in ("a", "b", "c")]
    assert look_again(files, folder.storage) == []
    folder.put("a", b"two")
    (folder.root / "c").unlink()
    assert look_again(files, folder.storage) == ["s3://raw/in/a", "s3://raw/in/c"]


def test_a_file_with_the_content_of_one_that_is_gone_was_renamed(folder: Folder) -> None:
    old = with_checksums([folder.put("a", b"one"), folder.put("b", b"two")], {}, folder.storage)
    known = {file.path: (file.size, file.noted_etag) for file in old}
    (folder.root / "a").rename(folder.root / "c")
    folder.put("d", b"two")
    new = with_checksums(list_files("s3://raw/in/", folder.storage), known, folder.storage)
    there = {file.path for file in new}
    # A copy beside its original is no rename.
    assert renamed(new, known, there) == [("s3://raw/in/a", "s3://raw/in/c")]


def test_a_rewritten_file_with_its_old_size_and_time_is_not_the_one_that_was_noted(
    folder: Folder,
) -> None:
    first = folder.put("a", b"one")
    noted = folder.noted(first)
    folder.at -= 1
    again = folder.put("a", b"two")
    assert again.modified_at == first.modified_at
    assert not is_etag_of(noted, again)
    assert same_content([(again, noted)], folder.storage) == [False]


def test_a_file_noted_by_an_earlier_version_is_known(folder: Folder) -> None:
    file = folder.put("a", b"one")
    assert is_etag_of(file.etag.rpartition("-")[0], file)
