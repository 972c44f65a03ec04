"""What an asker may find in the embedded index, as SQL with placeholders only."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from rag.ports import Filters


def allowed_values(
    db: sqlite3.Connection, readers: frozenset[str], filters: Filters
) -> dict[str, frozenset[str]]:
    """For each narrowing column the values that may be found: audiences with a shared label."""
    audiences = db.execute(
        f"SELECT DISTINCT audience FROM audiences WHERE label IN ({placeholders(len(readers))})",  # noqa: S608  placeholders only
        tuple(readers),
    ).fetchall()
    narrowed: dict[str, frozenset[str]] = {
        "space": filters.spaces,
        "kind": filters.kinds,
        "language": frozenset(filters.languages),
        "status": frozenset(filters.statuses),
    }
    return {
        "audience": frozenset(row[0] for row in audiences),
        **{name: values for name, values in narrowed.items() if values},
    }


def narrowing_clause(allowed: Mapping[str, frozenset[str]]) -> tuple[str, list[str]]:
    """The condition on the chunk `c` that both legs and reading share, and its values."""
    parts = [f"c.{name} IN ({placeholders(len(values))})" for name, values in allowed.items()]
    return " AND ".join(parts), [v for values in allowed.values() for v in values]


def placeholders(count: int) -> str:
    """As many question marks."""
    return ", ".join("?" * count)
