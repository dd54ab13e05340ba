"""A prompt for goldsmith commands: one after the other in one process, so that Java starts once.

Reads a JSON list of words a line and answers with a line: exit code, output, errors.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from typing import Any

from goldsmith.cli.main import main


def run(arguments: list[str]) -> dict[str, Any]:
    """Run one command as the shell would."""
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["goldsmith", *arguments]
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
