"""A source's options have a key that the reader of its file_format does not know."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from goldsmith.catalog.datasets import Source
from goldsmith.catalog.file_formats import FORMATS
from goldsmith.catalog.options import OF_ANY_SOURCE
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(FindingSeverity.ERROR, reads=(Source,))
def unknown_reader_option(rows: CatalogRows) -> Iterator[FoundProblem]:
    for source in rows.rows(Source):
        if not source.options:
            continue
        format_ = source.file_format
        known = FORMATS.get(str(format_)).options if str(format_) in FORMATS else _of_any()
        known = (*known, *OF_ANY_SOURCE)
        lowered = {option.lower() for option in known}
        for option in source.options:
            # A name with a dot is a setting of Hadoop or of a file format's own library.
            if option.lower() not in lowered and "." not in option:
                of = f"the reader of {format_}" if str(format_) in FORMATS else "any reader"
                yield FoundProblem(
                    source,
                    f"The options of source '{source.source_id}' hold '{option[:100]}', which is"
                    f" no option of {of}.",
                    f"{did_you_mean(option, known)}Known: {', '.join(sorted(known))}.",
                )


@cache
def _of_any() -> tuple[str, ...]:
    return tuple(sorted({option for _name, known in FORMATS.all() for option in known.options}))
