"""Rules of the platforms that need no server: tables, limits, search terms, bodies, secrets."""

import base64
import contextlib
import hashlib

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from simulator.feishu.cardshelf import Card, count_tables
from simulator.feishu.errors import FeishuError
from simulator.feishu.events import encrypt
from simulator.slack.events import rich_text
from simulator.state.limits import Buckets, Windows
from simulator.state.matching import highlight, score
from simulator.wire import parse_body

TABLE = "| a | b |\n|---|:-:|\n| 1 | 2 |\n"


@pytest.mark.parametrize(
    ("markdown", "tables"),
    [
        (TABLE, 1),
        (f"{TABLE}\n{TABLE}", 2),
        (f"```\n{TABLE}```\n{TABLE}", 1),
        (f"~~~md\n{TABLE}~~~", 0),
        ("a | b without a line of dashes", 0),
        ("---\nno table | here", 0),
    ],
)
def test_tables_outside_fences_count(markdown: str, tables: int) -> None:
    assert count_tables(markdown) == tables


def test_windows_slide() -> None:
    limit = Windows(2, 1.0)
    assert [limit.take("a", now) for now in (0.0, 0.5)] == [0.0, 0.0]
    assert limit.take("a", 0.6) == pytest.approx(0.4)
    assert limit.take("b", 0.6) == 0.0
    assert limit.take("a", 1.0) == 0.0


@given(st.lists(st.floats(0, 2), max_size=60))
def test_a_bucket_never_gives_more_than_burst_and_refill(gaps: list[float]) -> None:
    bucket, now, given_out = Buckets(1.0, 3), 0.0, 0
    for gap in gaps:
        now += gap
        given_out += bucket.take("c", now) == 0.0
    assert given_out <= 3 + now + 1e-6


def test_chinese_is_found_by_character_pairs() -> None:
    assert score("年终奖发放", "年终奖的发放日定了吗") > 0.5
    assert score("VPN 809", "My VPN stops with 809") == 1.0
    assert score("lunch", "年终奖") == 0.0
    assert highlight("ttl", "keep the TTL") == "keep the <h>TTL</h>"


@given(st.binary(max_size=300).filter(lambda data: b"--edge" not in data))
def test_multipart_keeps_every_byte(data: bytes) -> None:
    body = (
        b'--edge\r\nContent-Disposition: form-data; name="kind"\r\n\r\nmessage\r\n'
        b'--edge\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n'
        b"Content-Type: image/png\r\n\r\n" + data + b"\r\n--edge--\r\n"
    )
    fields, uploads = parse_body(body, "multipart/form-data; boundary=edge")
    assert fields == {"kind": "message"}
    assert (uploads["image"].data, uploads["image"].media_type) == (data, "image/png")


@given(st.binary(max_size=200))
def test_encryption_can_be_undone(plain: bytes) -> None:
    sealed = base64.b64decode(encrypt(plain, "key"))
    key = hashlib.sha256(b"key").digest()
    box = Cipher(algorithms.AES(key), modes.CBC(sealed[:16])).decryptor()
    padded = box.update(sealed[16:]) + box.finalize()
    assert padded[: -padded[-1]] == plain


def test_rich_text_names_people_and_links() -> None:
    section = rich_text("hi <@U1> see <https://a.b/?x=1&amp;y=2> &lt;b&gt;")[0]["elements"][0]
    assert section["elements"] == [
        {"type": "text", "text": "hi "},
        {"type": "user", "user_id": "U1"},
        {"type": "text", "text": " see "},
        {"type": "link", "url": "https://a.b/?x=1&y=2"},
        {"type": "text", "text": " <b>"},
    ]


@given(st.lists(st.integers(-2, 12), max_size=30))
def test_accepted_sequences_strictly_rise(numbers: list[int]) -> None:
    card, accepted = Card("1", {}, 0.0), list[int]()
    for number in numbers:
        with contextlib.suppress(FeishuError):
            card.take({"sequence": number}, 0.0)
            card.done({"sequence": number}, 0.0)
            accepted.append(number)
    assert accepted == sorted(set(accepted))
    assert all(number > 0 for number in accepted)
