"""Bedrock's binary streams by boto3's own client."""

from __future__ import annotations

import json
import struct
import zlib
from http.server import BaseHTTPRequestHandler
from typing import Any, Callable, Dict

import pytest
from servers import Server

from sluice import SluiceClient

boto3 = pytest.importorskip("boto3")


def event(name: str, payload: Dict[str, Any]) -> bytes:
    """An event as Amazon encodes it: lengths, checksum, headers, payload, checksum."""
    headers = b""
    for header, value in (
        (":message-type", "event"),
        (":event-type", name),
        (":content-type", "application/json"),
    ):
        headers += (
            bytes([len(header)]) + header.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        )
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + body
    return message + struct.pack(">I", zlib.crc32(message))


EVENTS = [
    event("messageStart", {"role": "assistant"}),
    event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hello"}}),
    event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": " there"}}),
    event(
        "contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "f"}}}
    ),
    event("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"a":'}}}),
    event("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "1}"}}}),
    event("messageStop", {"stopReason": "tool_use"}),
    event("metadata", {"usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}}),
]


def answer(handler: BaseHTTPRequestHandler, _body: bytes) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "application/vnd.amazon.eventstream")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    for data in EVENTS:
        handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    handler.wfile.write(b"0\r\n\r\n")


def test_a_stream_is_recorded_as_its_message(client: SluiceClient, recorded: Callable[[], Any]) -> None:
    server = Server(answer)
    keys = {"aws_access_key_id": "k", "aws_secret_access_key": "s", "region_name": "us-east-1"}
    bedrock = client.wrap(boto3.client("bedrock-runtime", endpoint_url=server.url, **keys))
    asked = [{"role": "user", "content": [{"text": "Hi"}]}]
    stream = bedrock.converse_stream(modelId="eu.anthropic.claude:0", messages=asked)["stream"]
    deltas = [part["contentBlockDelta"]["delta"] for part in stream if "contentBlockDelta" in part]
    assert "".join(delta.get("text", "") for delta in deltas) == "Hello there"
    (record,) = recorded()
    server.stop()
    content = record["response_body"]["output"]["message"]["content"]
    assert content == [
        {"text": "Hello there"},
        {"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1}}},
    ]
    assert record["response_body"]["stopReason"] == "tool_use"
    assert (record["model"], record["status_code"]) == ("eu.anthropic.claude:0", 200)
    assert record["time_to_first_token_ms"] > 0
    assert "aborted_by" not in record and "truncated" not in record["response_body"]
