"""What every Cipher adapter promises. A new adapter adds one branch to the fixture `cipher`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.errors import Misconfigured
from agent.ports import Cipher
from agent.stores.local_key_cipher import LocalKeyCipher

CONTEXT = {"purpose": "answer", "principal": "hengxing/slack/A0DEMO0001/T0DEMO0001/U0ALICE001"}


@pytest.fixture(params=["local"])
def cipher(request: pytest.FixtureRequest, tmp_path: Path) -> Cipher:
    return LocalKeyCipher(tmp_path / "home" / f"{request.param}.key")


@pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)) * 100])
async def test_a_box_opens_under_its_context_in_any_order(cipher: Cipher, data: bytes) -> None:
    box = await cipher.seal(data, CONTEXT)
    assert await cipher.open(box, dict(reversed(CONTEXT.items()))) == data
    assert len(data) < 2 or data not in box
    assert await cipher.seal(data, CONTEXT) != box


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"purpose": "answer"},
        {**CONTEXT, "principal": "somebody"},
        {**CONTEXT, "more": ""},
        {"purpose": CONTEXT["principal"], "principal": "answer"},
    ],
)
async def test_a_box_does_not_open_under_another_context(
    cipher: Cipher, other: dict[str, str]
) -> None:
    box = await cipher.seal(b"words", CONTEXT)
    with pytest.raises(Misconfigured):
        await cipher.open(box, other)


async def test_a_changed_or_cut_box_does_not_open(cipher: Cipher) -> None:
    box = await cipher.seal(b"words", CONTEXT)
    for n in range(len(box)):
        with pytest.raises(Misconfigured):
            await cipher.open(box[:n] + bytes([box[n] ^ 1]) + box[n + 1 :], CONTEXT)
        with pytest.raises(Misconfigured):
            await cipher.open(box[:n], CONTEXT)


async def test_the_key_file_is_private_and_used_again(tmp_path: Path) -> None:
    path = tmp_path / "home" / "local.key"
    box = await LocalKeyCipher(path).seal(b"words", CONTEXT)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in path.parent.iterdir()] == ["local.key"]
    assert await LocalKeyCipher(path).open(box, CONTEXT) == b"words"


async def test_ciphers_that_make_the_key_at_once_agree_on_one(tmp_path: Path) -> None:
    path = tmp_path / "local.key"
    ciphers = [LocalKeyCipher(path) for _ in range(8)]
    async with asyncio.TaskGroup() as group:
        boxes = [group.create_task(cipher.seal(b"words", CONTEXT)) for cipher in ciphers]
    for box in boxes:
        assert await ciphers[0].open(box.result(), CONTEXT) == b"words"


async def test_another_key_is_told_from_a_changed_box(tmp_path: Path) -> None:
    box = await LocalKeyCipher(tmp_path / "a.key").seal(b"words", CONTEXT)
    with pytest.raises(Misconfigured, match="another key"):
        await LocalKeyCipher(tmp_path / "b.key").open(box, CONTEXT)


@pytest.mark.parametrize(
    ("text", "mode"), [("00" * 36, 0o640), ("00" * 35, 0o600), ("", 0o600), ("no hex", 0o600)]
)
async def test_a_key_file_that_is_open_or_damaged_is_refused(
    tmp_path: Path, text: str, mode: int
) -> None:
    path = tmp_path / "local.key"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(Misconfigured, match="key file"):
        await LocalKeyCipher(path).seal(b"words", CONTEXT)
    assert path.read_text() == text
