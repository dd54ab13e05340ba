"""Set the offending file aside, until it is written anew, and go on with the others."""

from __future__ import annotations

from dataclasses import replace

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def quarantine_files(failure: Failure) -> Decision | None:
    file = failure.facts.get("file")
    # Of some formats Spark does not say which file was broken: then no file is to blame.
    if not isinstance(file, str) or not file or " " in file.rsplit("/", 1)[-1]:
        return None
    decision = rerun(f"{file} is set aside until it is written anew ({failure.code})", after=0)
    return replace(decision, files_aside=(file,))
