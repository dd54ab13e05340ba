"""Whatever is wrong with input: a coded error, nothing published, nothing lost, later all right."""

from __future__ import annotations

import errno
import gzip
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from goldsmith.engine import faults
from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE, SILVER

AS_PARQUET = BRONZE.replace("file_format: jsonl", "file_format: parquet")
AS_TEXT = BRONZE.replace("id BIGINT, amount BIGINT", "id BIGINT, amount STRING")
_GOOD = {"id": 2, "amount": 20}


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """One thing that is wrong: how it comes, what it is called, how somebody mends it."""

    code: str
    comes: Callable[[Bench], object]
    mended: Callable[[Bench], object]
    #: The stage it is wrong with.
    stage: int = 1
    catalog: str = BRONZE
    first: Callable[[Bench], object] = lambda bench: bench.bring("a.jsonl", {"id": 1, "amount": 10})


def put(bench: Bench, name: str, content: bytes) -> Path:
    file = bench.bring(name)
    file.write_bytes(content)
    return file


def parquet(bench: Bench, name: str, id_: int, *, keep: float = 1.0) -> None:
    """A Parquet file, or only so much of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = bench.bring(name)
    pq.write_table(pa.table({"id": [id_], "amount": [10 * id_]}), file)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * keep)])


def packed(bench: Bench, *, keep: float = 1.0) -> None:
    whole = gzip.compress("".join(json.dumps(_GOOD) + "\n" for _ in range(1)).encode())
    put(bench, "b.jsonl.gz", whole[: int(len(whole) * keep)])


def sql(text: str) -> Callable[[Bench], object]:
    return lambda bench: bench.apply(SILVER.replace("SELECT id, amount, at FROM bronze_@", text))


BAD = {
    "parquet cut off": Wrong(
        code="FileTruncated",
        catalog=AS_PARQUET,
        first=lambda bench: parquet(bench, "a.parquet", 1),
        comes=lambda bench: parquet(bench, "b.parquet", 2, keep=0.6),
        mended=lambda bench: parquet(bench, "b.parquet", 2),
    ),
    "parquet without a byte": Wrong(
        code="FileTruncated",
        catalog=AS_PARQUET,
        first=lambda bench: parquet(bench, "a.parquet", 1),
        comes=lambda bench: parquet(bench, "b.parquet", 2, keep=0),
        mended=lambda bench: parquet(bench, "b.parquet", 2),
    ),
    "gzip cut off": Wrong(
        code="FileTruncated",
        comes=lambda bench: packed(bench, keep=0.6),
        mended=packed,
    ),
    "schema changed": Wrong(
        code="SchemaMismatch",
        comes=lambda bench: (bench.apply(AS_TEXT), bench.bring("b.jsonl", _GOOD)),
        mended=lambda bench: bench.apply(BRONZE),
    ),
    "unknown function": Wrong(
        code="FunctionUnknown",
        stage=2,
        comes=lambda bench: (
            sql("SELECT id, nosuch(amount) AS amount, at FROM bronze_@")(bench),
            bench.bring("b.jsonl", _GOOD),
        ),
        mended=sql("SELECT id, amount, at FROM bronze_@"),
    ),
    "unknown column": Wrong(
        code="ColumnUnknown",
        stage=2,
        comes=lambda bench: (
            sql("SELECT id, amout AS amount, at FROM bronze_@")(bench),
            bench.bring("b.jsonl", _GOOD),
        ),
        mended=sql("SELECT id, amount, at FROM bronze_@"),
    ),
    "wrong only while it runs": Wrong(
        code="DivideByZero",
        stage=2,
        comes=lambda bench: (
            sql("SELECT id, amount DIV (id - 2) AS amount, at FROM bronze_@")(bench),
            bench.bring("b.jsonl", _GOOD),
        ),
        mended=sql("SELECT id, amount, at FROM bronze_@"),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_nothing_is_published_or_lost_and_a_later_run_is_right(bench: Bench, name: str) -> None:
    wrong = BAD[name]
    layer = "bronze" if wrong.stage == 1 else "silver"
    bench.apply(wrong.catalog)
    if wrong.stage == 2:
        bench.apply(SILVER)
    wrong.first(bench)
    bench.run()
    wrong.comes(bench)
    failed = bench.run()[wrong.stage]

    assert (failed.status, failed.error_code) == ("failed", wrong.code), failed.error_message
    assert failed.facts["hint"]
    assert ("StageFailed", wrong.code) in bench.events(failed.stage_run_id)
    assert bench.rows(layer, "id", "amount") == [(1, 10)]
    assert bench.leftovers() == []

    wrong.mended(bench)
    assert bench.run()[wrong.stage].status == "succeeded"
    assert bench.rows(layer, "id", "amount") == [(1, 10), (2, 20)]
    assert bench.leftovers() == []


def test_no_files_are_nothing_to_do(bench: Bench) -> None:
    bench.apply(BRONZE)
    done = bench.run()[1]
    assert done.status == "skipped"
    assert str(done.because).startswith("nothing new of its inputs; there is no file at s3://raw/")
    bench.bring("a.jsonl")
    assert bench.run()[1].rows_written == 0
    put(bench, "b.jsonl", b"")
    assert bench.run()[1].rows_written == 0
    assert bench.rows("bronze", "id") == []
    assert bench.leftovers() == []


def test_a_file_that_vanishes_between_listing_and_reading(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    gone = bench.bring("b.jsonl", _GOOD)

    def vanish(point: str) -> None:
        if point == "inputs-noted":
            gone.unlink()

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(faults, "reach", vanish)
        failed = bench.run()[1]
    assert (failed.status, failed.error_code) == ("failed", "FileVanished")
    assert bench.leftovers() == []
    # The next run lists anew.
    assert bench.run()[1].rows_written == 1
    bench.bring("b.jsonl", _GOOD)
    assert bench.run()[1].rows_written == 1
    assert bench.rows("bronze", "id") == [(1,), (2,)]


@pytest.fixture
def small_disk(bench: Bench) -> Iterator[Path]:
    """A file system of its own, of one megabyte, where the lake's bronze lies."""
    folder = Path(bench.runtime.settings.address(f"s3://lake/bronze/{bench.tag}/"))
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system takes a right this process does not have")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
    lake = bench.runtime.storage.lake()
    assert lake is not None
    lake.drop_table(("bronze", f"bronze_{bench.tag}"))


def test_a_full_disk(bench: Bench, small_disk: Path) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.run()
    ballast = small_disk / "ballast"
    _fill(ballast)
    bench.bring("b.jsonl", _GOOD)
    failed = _failed(bench)

    assert "No space left on device" in str(failed)
    assert bench.rows("bronze", "id") == [(1,)]
    ballast.unlink()
    assert bench.run()[1].status == "succeeded"
    assert bench.rows("bronze", "id") == [(1,), (2,)]
    assert bench.leftovers() == []


def _fill(ballast: Path) -> None:
    """Write until there is no room for another byte."""
    with ballast.open("wb", buffering=0) as file:
        for size in (4096, 1):
            while _fits(file, size):
                pass


def _fits(file: IO[bytes], size: int) -> bool:
    try:
        return file.write(b"x" * size) > 0
    except OSError as full:
        if full.errno != errno.ENOSPC:
            raise
        return False


def _failed(bench: Bench) -> str:
    """Why a run failed; where even its target could not be asked, the request says it."""
    from goldsmith.errors import GoldsmithError

    try:
        return str(bench.run()[1].error_message)
    except GoldsmithError as error:
        return str(error)


LONG = (
    SILVER.replace(
        "SELECT id, amount, at FROM bronze_@",
        "SELECT b.id, b.amount + s.total AS amount, b.at FROM bronze_@ b CROSS JOIN"
        " (SELECT CAST(sum(sqrt(id)) AS BIGINT) AS total FROM range(10000000000000)) s",
    )
    + "    options: {partial: ok}\n    timeout_sec: 3\n"
)


def test_a_stage_that_takes_too_long_is_ended(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(LONG)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    failed = bench.run()[2]

    assert (failed.status, failed.error_code) == ("failed", "StageTimeout")
    assert failed.facts["hint"]
    assert bench.leftovers() == []
    bench.apply(SILVER + "    timeout_sec: 3600\n    options: {}\n")
    assert bench.run()[2].status == "succeeded"
    assert bench.rows("silver", "id", "amount") == [(1, 10)]
