"""The same conversation gives the same record as by the TypeScript SDK, but for its identifier and times."""

from __future__ import annotations

import gzip
import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple

import httpx
import pytest
from servers import Receiver, Server

from sluice import SluiceClient

CONVERSATIONS: List[Dict[str, Any]] = json.loads((Path(__file__).parent / "conversations.json").read_text())
_TIMES = ("id", "latency_ms", "time_to_first_token_ms")


def _as_doubles(value: Any) -> Any:
    """Numbers as JavaScript reads them."""
    if isinstance(value, dict):
        return {name: _as_doubles(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_as_doubles(entry) for entry in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@pytest.fixture
def player() -> Iterator[Tuple[str, Callable[[Dict[str, Any], str], None]]]:
    playing: Dict[str, Any] = {}

    def answer(handler: BaseHTTPRequestHandler, _body: bytes) -> None:
        conversation, coding = playing["conversation"], playing["coding"]
        handler.send_response(conversation["status"])
        handler.send_header("content-type", conversation["contentType"])
        handler.send_header("transfer-encoding", "chunked")
        if coding == "gzip":
            handler.send_header("content-encoding", "gzip")
        handler.end_headers()
        chunks = [chunk.encode() for chunk in conversation["chunks"]]
        for chunk in [gzip.compress(b"".join(chunks))] if coding == "gzip" and chunks else chunks:
            handler.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")

    server = Server(answer)
    yield server.url, lambda conversation, coding: playing.update(conversation=conversation, coding=coding)
    server.stop()


@pytest.mark.parametrize("coding", ["identity", "gzip"])
@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda conversation: conversation["name"])
def test_is_the_same(
    conversation: Dict[str, Any],
    coding: str,
    player: Any,
    client: SluiceClient,
    recorded: Any,
    receiver: Receiver,
) -> None:
    url, play = player
    play(conversation, coding)
    with httpx.Client(transport=client.httpx_transport()) as http:
        http.post(
            url + conversation["path"],
            content=conversation["request"].encode(),
            headers={"content-type": "application/json"},
        )
    (record,) = recorded()
    assert ("time_to_first_token_ms" in record) == conversation["hasFirstToken"]
    assert record["latency_ms"] > 0
    fields = {name: value for name, value in record.items() if name not in _TIMES}
    assert _as_doubles(fields) == _as_doubles(conversation["record"])


def test_numbers_keep_their_digits(
    player: Any, client: SluiceClient, recorded: Any, receiver: Receiver
) -> None:
    url, play = player
    play(CONVERSATIONS[0], "identity")
    with httpx.Client(transport=client.httpx_transport()) as http:
        http.post(url + CONVERSATIONS[0]["path"], content=CONVERSATIONS[0]["request"].encode())
    recorded()
    assert "12345678901234567890" in receiver.texts[0]
    assert "98765432109876543210" in receiver.texts[0]


@pytest.mark.parametrize("request_body", [b'{"messages": []}', b"Hi"])
def test_an_applications_own_chat_at_ollamas_path_is_not_recorded(
    request_body: bytes, player: Any, client: SluiceClient, recorded: Any
) -> None:
    url, play = player
    play(CONVERSATIONS[0], "identity")
    with httpx.Client(transport=client.httpx_transport()) as http:
        http.post(url + "/api/chat", content=request_body)
    assert recorded() == []
