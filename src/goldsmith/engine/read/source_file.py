"""The column `_source_file`: for every row the catalog's address of the file it came from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from goldsmith.storage.files import ListedFile
from goldsmith.storage.spark_addresses import spark_address
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SOURCE_FILE = "_source_file"
#: Characters that Spark never encodes in a file's address.
_PLAIN = re.compile(r"[\w/.:=+-]*")


def source_file(rows: DataFrame, files: Iterable[ListedFile], storage: Storage) -> Column:
    """The catalog's address of each row's file, computed by Spark itself."""
    from pyspark.sql import functions as F

    real = {spark_address(storage, file.path): file.path for file in files}
    path = rows.metadataColumn("_metadata")["file_path"]
    if not all(_PLAIN.fullmatch(address) for address in real):
        # Spark does not encode a plus, and url_decode would make it a space.
        path = F.url_decode(F.replace(path, F.lit("+"), F.lit("%2B")))
    prefixes = sorted(
        {_beginnings(*pair) for pair in real.items()}, key=lambda prefix: -len(prefix[0])
    )
    if len(prefixes) == 1 and all(address.count(prefixes[0][0]) == 1 for address in real):
        # This runs for every row, and a replace costs a third of the general way.
        beginning, ours = prefixes[0]
        return F.replace(path, F.lit(_spelt(beginning)), F.lit(ours)).alias(SOURCE_FILE)
    selection = path
    for beginning, ours in reversed(prefixes):
        spelt = _spelt(beginning)
        named = F.concat(F.lit(ours), F.substring(path, len(spelt) + 1, 10_000))
        selection = F.when(path.startswith(spelt + "/"), named).otherwise(selection)
    for address, name in real.items():
        # Bindings may be nested: files for which the prefixes are wrong are mapped one by one.
        if _by_prefix(address, prefixes) != name:
            selection = F.when(path == _spelt(address), F.lit(name)).otherwise(selection)
    return selection.alias(SOURCE_FILE)


def _beginnings(real: str, name: str) -> tuple[str, str]:
    """The different beginnings of a file's two addresses, without their common ending."""
    same = 0
    while same < min(len(real), len(name)) and real[-same - 1] == name[-same - 1]:
        same += 1
    ending = real[len(real) - same :]
    ending = ending[ending.find("/") :] if "/" in ending else ""
    return real.removesuffix(ending), name.removesuffix(ending)


def _spelt(real: str) -> str:
    """A real address as Spark writes it: a local path gets the scheme `file:`."""
    return f"file:{real}" if real.startswith("/") else real


def _by_prefix(address: str, prefixes: Iterable[tuple[str, str]]) -> str:
    for beginning, ours in prefixes:
        if address.startswith(beginning + "/"):
            return ours + address[len(beginning) :]
    return address
