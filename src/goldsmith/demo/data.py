"""The demo's raw files: several days, broken rows, duplicates, a late file, a new column.

Everything is generated from one seed and today's date, so that two people see the same demo.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

_SEED = 20_260
_DAYS = 7
_USERS = 400
_EVENTS_A_DAY = 2_500
_ORDERS_A_DAY = 400
_COUNTRIES = ("DE", "FR", "IN", "JP", "BR", "US", "KE", "")
_KINDS = ("view", "view", "view", "click", "click", "cart", "purchase")
_STATUSES = ("pending", "confirmed", "shipped", "delivered", "cancelled")


def write(raw: Path, today: date) -> int:
    """Write the raw files of the demo into a folder; returns their number."""
    made = {**dict(_user_events(today)), **dict(_orders(today)), **dict(_user_profiles())}
    for name, text in made.items():
        file = raw / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return len(made)


def _user_events(today: date) -> Iterator[tuple[str, str]]:
    chance = random.Random(_SEED)
    days = [today - timedelta(days=back) for back in range(_DAYS, 0, -1)]
    repeated: list[str] = []
    for day in days:
        lines = [_event(chance, day, number) for number in range(_EVENTS_A_DAY)]
        # Some events arrive twice, and some lines are cut off.
        lines += repeated
        repeated = chance.sample(lines, 40)
        lines += [line[: len(line) // 2] for line in chance.sample(lines, 3)]
        # One sender writes no valid times.
        broken = json.loads(lines[0]) | {"event_id": f"{day:%Y%m%d}-clock", "event_ts": "n/a"}
        yield f"user_events/{day}.jsonl", "\n".join([*lines, json.dumps(broken)]) + "\n"
    late = [_event(chance, days[1], _EVENTS_A_DAY + number) for number in range(150)]
    yield f"user_events/{days[1]}-late.jsonl", "\n".join(late) + "\n"


def _event(chance: random.Random, day: date, number: int) -> str:
    return json.dumps(
        {
            "event_id": f"{day:%Y%m%d}-{number:06}",
            "user_id": chance.randrange(_USERS),
            "event_type": chance.choice(_KINDS),
            "event_ts": _moment(chance, day).isoformat(),
        }
    )


def _moment(chance: random.Random, day: date) -> datetime:
    return datetime.combine(day, time(), UTC) + timedelta(seconds=chance.randrange(86_400))


def _orders(today: date) -> Iterator[tuple[str, str]]:
    chance = random.Random(_SEED + 1)
    columns = ["order_id", "user_id", "amount", "status", "updated_at"]
    number = 0
    for back in range(_DAYS, 0, -1):
        day = today - timedelta(days=back)
        if back == 3:
            columns = [*columns, "channel"]  # the shop opened an app
        rows = []
        for _ in range(_ORDERS_A_DAY):
            number += 1
            rows.append(_order(chance, number, day))
        # Orders of earlier days change their status.
        for old in chance.sample(range(1, number + 1), min(60, number)):
            rows.append(_order(chance, old, day))
        rows[chance.randrange(len(rows))]["amount"] = "-1.00"
        yield f"orders/{day}.csv", _csv(columns, rows)


def _order(chance: random.Random, number: int, day: date) -> dict[str, str]:
    return {
        "order_id": f"ORD-{number:010}",
        "user_id": str(chance.randrange(_USERS)),
        "amount": f"{chance.lognormvariate(3.5, 0.8):.2f}",
        "status": chance.choice(_STATUSES),
        "updated_at": _moment(chance, day).isoformat(),
        "channel": chance.choice(("app", "web")),
    }


def _user_profiles() -> Iterator[tuple[str, str]]:
    chance = random.Random(_SEED + 2)
    # Some users have no profile.
    rows = [
        {"user_id": str(user), "country": chance.choice(_COUNTRIES)}
        for user in range(_USERS)
        if user % 23
    ]
    yield "user_profiles/profiles.csv", _csv(["user_id", "country"], rows)


def _csv(columns: list[str], rows: list[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
