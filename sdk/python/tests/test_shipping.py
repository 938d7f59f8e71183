"""Records on their way: the ledger, a full queue, an API that is away, threads, forks, and the end of a
program.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import Any, Dict, List

import pytest
from servers import Receiver

from sluice import SluiceClient


def ids_of(receiver: Receiver) -> List[str]:
    return [str(record["id"]) for record in receiver.taken]


def test_every_record_of_many_threads_once(client: SluiceClient, receiver: Receiver) -> None:
    def work(thread: int) -> None:
        for call in range(200):
            client.record_tool_call("t", {"thread": thread, "call": call}, "ok")

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.flush(30)
    given = [record["request_body"]["arguments"] for record in receiver.taken]
    assert sorted((call["thread"], call["call"]) for call in given) == [
        (a, b) for a in range(8) for b in range(200)
    ]
    assert len(set(ids_of(receiver))) == 1600
    assert client.stats().sent == 1600
    assert client.stats().held_bytes == 0


def test_an_attempt_that_fails_is_sent_again_with_the_same_identifier(
    client: SluiceClient, receiver: Receiver
) -> None:
    receiver.refuse = (503, {"detail": "not now"})
    for at in range(3):
        client.record_tool_call("t", {"at": at}, "ok")
    assert not client.flush(1)
    receiver.refuse = None
    assert client.flush(10)
    sent = [json.loads(text).get("records", [json.loads(text)]) for text in receiver.texts]
    assert len(receiver.texts) > 1
    assert {str(record["id"]) for batch in sent for record in batch} == set(ids_of(receiver))
    assert len(ids_of(receiver)) == 3


def test_a_full_queue_drops_the_oldest_and_counts(receiver: Receiver) -> None:
    receiver.refuse = (503, {"detail": "not now"})
    client = SluiceClient(api_key="k", base_url=receiver.url, max_queue_bytes=20_000)
    for at in range(100):
        client.record_tool_call("t", {"at": at, "text": "x" * 1_000}, "ok")
    client.flush(0.5)
    assert client.stats().held_bytes <= 20_000
    receiver.refuse = None
    assert client.flush(10)
    kept = [record["request_body"]["arguments"]["at"] for record in receiver.taken]
    # Those in flight cannot be evicted, so the newest may be dropped too.
    assert kept == sorted(kept) and len(kept) < 20
    assert client.stats().dropped["queue_full"] == 100 - len(kept)


def test_calls_do_not_wait_for_an_api_that_hangs(receiver: Receiver) -> None:
    receiver.delay_s = 3
    client = SluiceClient(api_key="k", base_url=receiver.url)
    client.record_tool_call("t", {}, "first")
    time.sleep(0.3)
    start = time.perf_counter()
    for _ in range(100):
        client.record_tool_call("t", {}, "ok")
    assert time.perf_counter() - start < 1
    assert not client.flush(0.1)
    receiver.delay_s = 0
    client.shutdown(10)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((429, {"detail": "used up", "code": "INGEST_QUOTA_EXCEEDED"}), "over_quota"),
        ((413, {"detail": "too large"}), "refused"),
        ((422, {"detail": "id: expected"}), "refused"),
    ],
)
def test_what_the_api_refuses_is_counted(
    client: SluiceClient, receiver: Receiver, answer: Any, reason: str
) -> None:
    receiver.refuse = answer
    client.record_tool_call("t", {}, "ok")
    assert client.flush(10)
    assert client.stats().dropped[reason] == 1


def test_a_record_that_is_refused_among_others(client: SluiceClient, receiver: Receiver) -> None:
    receiver.decide = lambda record: 422 if record["request_body"]["arguments"]["at"] == 3 else 202
    for at in range(6):
        client.record_tool_call("t", {"at": at}, "ok")
    assert client.flush(10)
    assert sorted(record["request_body"]["arguments"]["at"] for record in receiver.taken) == [0, 1, 2, 4, 5]
    assert client.stats().dropped["refused"] == 1


def test_an_api_without_batches(client: SluiceClient, receiver: Receiver) -> None:
    answer = receiver._answer

    def without_batches(handler: Any, body: bytes) -> None:
        receiver.refuse = (404, {"detail": "no route"}) if handler.path.endswith("/batch") else None
        answer(handler, body)

    receiver._answer = without_batches  # type: ignore[method-assign]
    for at in range(3):
        client.record_tool_call("t", {"at": at}, "ok")
    client.flush(10)
    assert len(ids_of(receiver)) in (0, 3)


def test_a_wrong_key_keeps_records_waiting(
    client: SluiceClient, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.refuse = (401, {"detail": "unknown key", "code": "KEY_UNKNOWN"})
    client.record_tool_call("t", {}, "ok")
    assert not client.flush(0.5)
    assert "unknown key" in caplog.text
    receiver.refuse = None
    assert client.flush(10)


def test_without_a_key_nothing_is_recorded(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SERVICE_API_KEY", raising=False)
    client = SluiceClient()
    given = object()
    assert client.wrap(given) is given
    assert client.trace(lambda: 7)() == 7
    client.record_tool_call("t", {}, "ok")
    assert client.flush()
    assert "SERVICE_API_KEY" in caplog.text


def test_an_invalid_address_is_said_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="base_url: expected an http or https address, got 'sluice:8000'"):
        SluiceClient(api_key="k", base_url="sluice:8000")
    monkeypatch.setenv("SERVICE_BASE_URL", "sluice:8000")
    assert SluiceClient(api_key="k").stats().sent == 0


def test_before_send_changes_and_drops(receiver: Receiver) -> None:
    def change(record: Dict[str, Any]) -> Any:
        tool = record["request_body"]["tool_name"]
        if tool == "raise":
            raise RuntimeError("no")
        record["request_body"]["arguments"] = {}
        return None if tool == "drop" else {**record, "id": "changed"}

    client = SluiceClient(api_key="k", base_url=receiver.url, before_send=change)
    for name in ("keep", "drop", "raise"):
        client.record_tool_call(name, {"secret": 1}, "ok")
    assert client.flush(10)
    (record,) = receiver.taken
    assert record["request_body"] == {"type": "mcp_tool_call", "tool_name": "keep", "arguments": {}}
    assert record["id"].startswith("req_")
    assert client.stats().dropped["before_send"] == 1


def test_after_shutdown_records_are_dropped_and_counted(client: SluiceClient) -> None:
    client.shutdown()
    client.record_tool_call("t", {}, "ok")
    assert client.stats().dropped["shut_down"] == 1


PROGRAM = """
import os, sys, multiprocessing, sluice
sluice.configure(base_url=sys.argv[1], api_key="k")
def call(name): sluice.record_tool_call(name, {}, "ok")
def child(): call("process")
"""


def run(receiver: Receiver, program: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PROGRAM + program, receiver.url]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def tools_of(receiver: Receiver) -> List[str]:
    return sorted(record["request_body"]["tool_name"] for record in receiver.taken)


def test_an_ending_program_sends_what_waits(receiver: Receiver) -> None:
    done = run(receiver, "call('last')")
    assert (done.returncode, done.stderr) == (0, "")
    assert tools_of(receiver) == ["last"]


def test_an_ending_program_does_not_wait_for_long(receiver: Receiver) -> None:
    receiver.refuse = (503, {})
    start = time.monotonic()
    done = run(receiver, "call('last')")
    assert done.returncode == 0
    assert time.monotonic() - start < 20
    assert "1 record(s) that the API has not accepted" in done.stderr


def test_a_forked_child_sends_its_own_records_only(receiver: Receiver) -> None:
    program = """
call("parent")
child_id = os.fork()
call("child" if child_id == 0 else "parent again")
if child_id == 0: sluice.flush(10); os._exit(0)
os.waitpid(child_id, 0)
"""
    done = run(receiver, program)
    assert (done.returncode, done.stderr) == (0, "")
    assert tools_of(receiver) == ["child", "parent", "parent again"]


def test_children_of_multiprocessing_flush_at_their_end(receiver: Receiver) -> None:
    program = """
call("parent"); sluice.flush()
made = multiprocessing.get_context("fork").Process(target=child)
made.start(); made.join()
"""
    done = run(receiver, program)
    assert (done.returncode, done.stderr) == (0, "")
    assert tools_of(receiver) == ["parent", "process"]


def test_a_fork_in_the_middle_of_recording(receiver: Receiver) -> None:
    program = """
import threading, time
is_over = False
def record():
    while not is_over: call("thread"); time.sleep(0.0005)
threads = [threading.Thread(target=record) for _ in range(4)]
for thread in threads: thread.start()
children = []
for _ in range(10):
    time.sleep(0.01)
    child_id = os.fork()
    if child_id == 0:
        call("child"); os._exit(0 if sluice.flush(20) else 7)
    children.append(child_id)
codes = [os.waitpid(child_id, 0)[1] for child_id in children]
is_over = True
for thread in threads: thread.join()
sys.exit(0 if codes == [0] * 10 else 1)
"""
    done = run(receiver, program)
    assert (done.returncode, done.stderr) == (0, "")
    assert tools_of(receiver).count("child") == 10
    assert len(set(ids_of(receiver))) == len(ids_of(receiver))
