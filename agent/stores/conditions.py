"""What conditions and changes mean: evaluated here once, for every adapter that has no engine."""

from __future__ import annotations

from collections.abc import Sequence

from agent.errors import ConditionFailed
from agent.ports import (
    Absent,
    Change,
    Check,
    Compare,
    Condition,
    Delete,
    Exists,
    Item,
    Key,
    Put,
    Update,
    Value,
    Write,
)
from agent.stores.limits import MAX_TRANSACTION, MAX_WRITES, BadItem, ItemTooLarge, admit, check_key

_SIGNS = {"=": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}
"""The results of a comparison under which an operator holds."""


def holds(item: Item | None, when: Sequence[Condition]) -> bool:
    """Whether every condition is true of the stored item, None standing for an absent one.

    Raises:
        BadItem: a condition that DynamoDB can not express.
    """
    for part in when:  # noqa: SIM110  # plain loop: a generator doubles the cost of each write
        if not _holds(item, part):
            return False
    return True


def _holds(item: Item | None, part: Condition) -> bool:
    if isinstance(part, Absent):
        return item is None or (part.name != "" and part.name not in item)
    if isinstance(part, Exists):
        return item is not None and (part.name == "" or part.name in item)
    if isinstance(part, Compare):
        return item is not None and part.name in item and _compares(item[part.name], part)
    if not part.parts:
        raise BadItem("a choice of conditions needs at least one")
    return any(_holds(item, choice) for choice in part.parts)


def _compares(stored: Value, part: Compare) -> bool:
    """DynamoDB compares within one type only: a number is never equal to a text or a truth."""
    wanted = part.value
    if isinstance(wanted, bool):
        if part.op not in {"=", "!="}:
            raise BadItem("true and false have no order")
        return (stored is wanted) == (part.op == "=")
    sign = _sign(stored, wanted)
    if sign is None:
        return part.op == "!="
    return sign in _SIGNS[part.op]


def _sign(stored: Value, wanted: str | int | float) -> int | None:
    """-1, 0 or 1 as the stored value is smaller, equal or greater; None for another type."""
    if isinstance(stored, str) and isinstance(wanted, str):
        return (stored > wanted) - (stored < wanted)
    if isinstance(stored, bool) or isinstance(wanted, str):
        return None
    if isinstance(stored, int | float):
        return (stored > wanted) - (stored < wanted)
    return None


def key_of(write: Write) -> Key:
    """The key a write touches.

    Raises:
        BadItem: the key is not two non-empty texts.
    """
    if isinstance(write, Put):
        pk, sk = write.item.get("pk"), write.item.get("sk")
        check_key(pk, sk)
        return Key(str(pk), str(sk))
    check_key(write.key.pk, write.key.sk)
    return write.key


def check_change(change: Change) -> None:
    """Refuse a change that touches the key, or one attribute twice.

    Raises:
        BadItem: with the attribute.
    """
    names = [*(change.set or ()), *(change.add or ()), *change.remove]
    if len(set(names)) != len(names):
        raise BadItem("a change touches an attribute twice")
    if "pk" in names or "sk" in names:
        raise BadItem("a change can not touch pk or sk")


def changed(key: Key, stored: Item | None, change: Change) -> Item:
    """The item after the change, a new mapping; an absent item starts from its key alone.

    Raises:
        BadItem: a number is added to something else.
    """
    item: Item = {"pk": key.pk, "sk": key.sk} if stored is None else stored.copy()
    if change.set:
        item.update(change.set)
    for name, amount in (change.add or {}).items():
        old = item.get(name, 0)
        if isinstance(old, bool) or not isinstance(old, int | float):
            raise BadItem(f"{name} is no number to add to")
        item[name] = old + amount
    for name in change.remove:
        item.pop(name, None)
    return item


def outcome(write: Write, key: Key, stored: Item | None) -> Item | None:
    """What the item becomes by a write, None for absent; a check leaves it as it is.

    Raises:
        ConditionFailed: a condition does not hold.
        BadItem: the change can not be applied.
    """
    if not holds(stored, write.when):
        raise refused(key)
    if isinstance(write, Put):
        return write.item
    if isinstance(write, Update):
        return changed(key, stored, write.change)
    return None if isinstance(write, Delete) else stored


def refused(key: Key) -> ConditionFailed:
    """The error for a condition that does not hold."""
    return ConditionFailed(f"another state than asked for at {key.pk} / {key.sk}")


def keys_of(writes: Sequence[Write]) -> tuple[Key, ...]:
    """The keys of a transaction, after all checks that need no stored state.

    Raises:
        BadItem: no write or more than 100, a key twice, or a write that can not be stored.
        ItemTooLarge: an item above 400 KB or 4 MB in all.
    """
    if not 1 <= len(writes) <= MAX_WRITES:
        raise BadItem(f"a transaction has 1 to {MAX_WRITES} writes, not {len(writes)}")
    keys: list[Key] = []
    size = 0
    for write in writes:
        keys.append(key_of(write))
        if isinstance(write, Put):
            size += admit(write.item)[0]
        elif isinstance(write, Update):
            check_change(write.change)
        elif isinstance(write, Check) and not write.when:
            raise BadItem("a check without a condition")
    if len(set(keys)) != len(keys):
        raise BadItem("a transaction touches an item twice")
    if size > MAX_TRANSACTION:
        raise ItemTooLarge(f"the transaction has {size} bytes, at most {MAX_TRANSACTION}")
    return tuple(keys)
