"""Words of our own: names of permissions are code, everything else is plain."""

from __future__ import annotations

import pytest

from connectors.feishu.card import plain
from connectors.slack.blocks import own_words

OFFER = "· your chats: `channels:history`, `search:read.im`, `im:message.p2p_msg:get_as_user`"


@pytest.mark.parametrize("write", [own_words, plain])
def test_permissions_look_alike(write: type[str]) -> None:
    assert write(OFFER) == OFFER


@pytest.mark.parametrize("write", [own_words, plain])
@pytest.mark.parametrize(
    "words",
    [
        "`https://evil.example`",
        "`<!channel>`",
        "`<at id=all></at>`",
        "`javascript:alert`(1)",
        "``im:chat``",
        "`im:chat\n`",
    ],
)
def test_nothing_else_in_backticks_is_let_through(write: type[str], words: str) -> None:
    shown = write(words)
    assert "<!" not in shown
    assert "<at" not in shown
    assert shown.count("`") % 2 == 0
