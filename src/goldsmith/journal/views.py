"""Every documented view, for people's own BI, for `status` and `why`, and for the docs."""

from __future__ import annotations

from goldsmith.journal.view import View
from goldsmith.journal.views_of_now import OF_NOW
from goldsmith.journal.views_of_runs import OF_RUNS

#: In the order they are made: a view may read those before it.
VIEWS: tuple[View, ...] = (*OF_RUNS, *OF_NOW)
