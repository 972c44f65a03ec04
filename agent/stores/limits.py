"""DynamoDB's and S3's limits, enforced on every adapter so that no surprise waits in the cloud.

Figures: DynamoDB developer guide, "Quotas" and "Item sizes and formats"; S3 user guide, "Naming
objects".
"""

from __future__ import annotations

from functools import lru_cache

from agent.ports import Item, Key, Value

MAX_ITEM = 400 * 1024
MAX_PK = 2048
MAX_SK = 1024
MAX_WRITES = 100
MAX_TRANSACTION = 4 * 1024 * 1024
MAX_DEPTH = 32
MAX_BLOB_KEY = 1024
_MAX_INT = 10**38
_MAX_FLOAT = 1e125
_MIN_FLOAT = 1e-130
_SMALL = 10**12
_SMALL_SIZE = 8
"""Bytes of a number of up to 12 digits, rounded up."""
_FLOAT_SIZE = 11
"""Bytes of the 17 digits that a float has at most, rounded up."""
_INDEX_ATTRIBUTES = (("due_pk", MAX_PK), ("due_sk", MAX_SK), ("own_pk", MAX_PK))


class BadItem(ValueError):
    """An item, key or change that DynamoDB would not take: a mistake of the caller."""


class ItemTooLarge(BadItem):
    """An item above 400 KB, or a transaction above 4 MB."""


def utf8_size(text: str) -> int:
    """Bytes of the text in UTF-8.

    Raises:
        BadItem: the text holds half of a surrogate pair and has no UTF-8 form.
    """
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise BadItem("text with a lone surrogate can not be stored") from error


def check_key(pk: Value, sk: Value) -> None:
    """Refuse a key that is not two non-empty texts within 2,048 and 1,024 bytes.

    Raises:
        BadItem: with the part that is wrong.
    """
    if type(pk) is not str or not 0 < len(pk) <= MAX_PK or not pk.isascii():
        _check_text("pk", pk, MAX_PK)
    if type(sk) is not str or not 0 < len(sk) <= MAX_SK or not sk.isascii():
        _check_text("sk", sk, MAX_SK)


def _check_text(name: str, value: Value, limit: int) -> None:
    if type(value) is not str or not value:
        raise BadItem(f"{name} must be a non-empty text")
    if utf8_size(value) > limit:
        raise BadItem(f"{name} is longer than {limit} bytes")


def admit(item: Item) -> tuple[int, bool]:
    """Check a whole item against DynamoDB's rules.

    Returns:
        Its size in bytes by DynamoDB's counting rule (names and texts in UTF-8, numbers rounded
        up), and whether any value is a list or a map.

    Raises:
        BadItem: a key, name, type or number that can not be stored.
        ItemTooLarge: above 400 KB.
    """
    check_key(item.get("pk"), item.get("sk"))
    size = _names_size(tuple(item))
    nested = False
    for value in item.values():
        # Nearly all values are ASCII texts and small numbers: counted here, without a call.
        if type(value) is str:
            size += len(value) if value.isascii() else utf8_size(value)
        elif type(value) is int and -_SMALL < value < _SMALL:
            size += _SMALL_SIZE
        elif type(value) is list or type(value) is dict:
            nested = True
            size += _size(value, 1)
        else:
            size += _scalar_size(value)
    if "due_pk" in item or "due_sk" in item or "own_pk" in item:
        for name, limit in _INDEX_ATTRIBUTES:
            if name in item:
                _check_text(name, item[name], limit)
    if size > MAX_ITEM:
        raise ItemTooLarge(f"the item has {size} bytes, at most {MAX_ITEM} can be stored")
    return size, nested


@lru_cache(maxsize=1024)
def _names_size(names: tuple[str, ...]) -> int:
    """Bytes of all names of an item; items of one kind have the same names."""
    return sum(map(_name_size, names))


@lru_cache(maxsize=4096)
def _name_size(name: str) -> int:
    if not name or "\0" in name:
        raise BadItem("an attribute's name must be text without NUL, and not empty")
    return utf8_size(name)


def _size(value: Value, depth: int) -> int:
    """Bytes of a nested value; lists and maps cost 3 bytes and 1 more for each element."""
    if isinstance(value, str):
        return utf8_size(value)
    if isinstance(value, list | dict) and depth > MAX_DEPTH:
        raise BadItem(f"values are nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, list):
        return 3 + sum(1 + _size(part, depth + 1) for part in value)
    if isinstance(value, dict):
        return 3 + sum(1 + _name_size(n) + _size(part, depth + 1) for n, part in value.items())
    return _scalar_size(value)


def _scalar_size(value: Value) -> int:
    if isinstance(value, float):
        # NaN fails the first comparison as well.
        if not -_MAX_FLOAT < value < _MAX_FLOAT or 0 < abs(value) < _MIN_FLOAT:
            raise BadItem("a number is not finite or out of range")
        return _FLOAT_SIZE
    if value is None or value is True or value is False:
        return 1
    if isinstance(value, int):
        if not -_MAX_INT < value < _MAX_INT:
            raise BadItem("a number has more than 38 digits")
        return len(str(value)) // 2 + 2
    if isinstance(value, bytes):
        return len(value)
    raise BadItem(f"values of type {type(value).__name__} can not be stored")


def check_page(pk: str, limit: int, after: Key | None) -> None:
    """Refuse a query without a partition, without room, or that goes on in another partition.

    Raises:
        BadItem: with the argument that is wrong.
    """
    _check_text("pk", pk, MAX_PK)
    if limit < 1:
        raise BadItem("a page has room for at least one item")
    if after is not None and after.pk != pk:
        raise BadItem("`after` is a key of another partition")


def check_index_page(index: str, pk: str, up_to: str, limit: int) -> None:
    """Refuse an index query that DynamoDB could not answer; `own` has no time to stop at.

    Raises:
        BadItem: with the argument that is wrong.
    """
    check_page(pk, limit, None)
    if index not in {"due", "own"}:
        raise BadItem(f"there is no index {index}")
    if index == "own" and up_to:
        raise BadItem("the index `own` is not ordered by time")


def prefix_end(prefix: str) -> str | None:
    """The first text after all that start with `prefix`, None when there is none."""
    while prefix:
        last = ord(prefix[-1])
        if last < 0x10FFFF:
            # U+D800 to U+DFFF are no characters: the next one after U+D7FF is U+E000.
            return prefix[:-1] + chr(0xE000 if last == 0xD7FF else last + 1)
        prefix = prefix[:-1]
    return None


def check_blob_key(key: str) -> tuple[str, ...]:
    """Split an object's key into its parts.

    Raises:
        BadItem: empty, absolute, longer than 1,024 bytes, with NUL, backslash, `.`, `..` or an
            empty part: such a key could leave the folder.
    """
    parts = tuple(key.split("/"))
    if utf8_size(key) > MAX_BLOB_KEY or any(c in key for c in "\0\\"):
        raise BadItem("an object's key is too long or holds NUL or a backslash")
    if any(part in {"", ".", ".."} or utf8_size(part) > 240 for part in parts):
        raise BadItem(f"{key!r} is not a relative path of plain names")
    return parts
