"""What becomes of a bulk request of which a part is put off or refused."""

from __future__ import annotations

import pytest

from agent.errors import Unavailable
from rag.opensearch.bulk import Write, send
from rag.opensearch.server import IndexRefused
from tests.fakes.clock import FakeClock
from tests.fakes.opensearch_server import BulkServer

THREE = [Write("index", name, {"text": name}) for name in "abc"]


async def test_only_what_was_put_off_is_sent_again() -> None:
    server = BulkServer(lambda i, n: (429, "rejected") if i == "b" and n < 3 else (201, ""))
    clock = FakeClock()
    began = clock.monotonic()
    await send(server, "i", THREE, clock)
    assert server.requests == [["a", "b", "c"], ["b"], ["b"]]
    assert clock.monotonic() - began == pytest.approx(0.2 + 0.4)


async def test_a_refusal_is_told_with_its_number_and_reason_and_the_rest_is_done() -> None:
    def verdict(name: str, request: int) -> tuple[int, str]:
        if name == "a":
            return 400, "mapper_parsing_exception"
        return (503, "unavailable") if name == "b" and request == 1 else (200, "")

    server = BulkServer(verdict)
    with pytest.raises(IndexRefused, match=r"refused 1 of 3, index a: 400 mapper_parsing_exc"):
        await send(server, "i", THREE, FakeClock())
    assert server.requests == [["a", "b", "c"], ["b"]]


@pytest.mark.parametrize(("status", "kind"), [(429, "rejected"), (403, "cluster_block_exception")])
async def test_what_is_put_off_for_ever_is_not_tried_for_ever(status: int, kind: str) -> None:
    server = BulkServer(lambda i, _: (status, kind) if i == "c" else (200, ""))
    with pytest.raises(Unavailable, match="put off 1 of 3"):
        await send(server, "i", THREE, FakeClock())
    assert server.requests[1:] == [["c"]] * 4


async def test_a_delete_of_what_is_gone_is_done() -> None:
    server = BulkServer(lambda _, __: (404, ""))
    await send(server, "i", [Write("delete", "a")], FakeClock())
    with pytest.raises(IndexRefused):
        await send(server, "i", [Write("update", "a", {})], FakeClock())


async def test_requests_are_bounded() -> None:
    server = BulkServer(lambda _, __: (201, ""))
    await send(server, "i", [Write("index", str(n), {}) for n in range(1100)], FakeClock())
    assert [len(r) for r in server.requests] == [500, 500, 100]
    server = BulkServer(lambda _, __: (201, ""))
    large = [Write("index", str(n), {"text": "字" * 500_000}) for n in range(5)]
    await send(server, "i", large, FakeClock())
    assert len(server.requests) == 3
    assert max(server.sizes) <= 4_000_000
