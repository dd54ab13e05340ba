"""`goldsmith` where every session on a Spark Connect server knows a Python function, `slowly`.

Rows cannot name one. Its first two words say how slow it is, and where it says that it began.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from goldsmith.cli.main import main
from goldsmith.engine.session import connect
from stopping_stages import slow

if __name__ == "__main__":
    how, began = sys.argv.pop(1), Path(sys.argv.pop(1))
    plain = connect.another

    def another(session: Any) -> Any:
        own = plain(session)
        own.udf.register("slowly", slow(how, began))
        return own

    connect.another = another
    main()
