"""Records on disk: a program that is killed, an API that is away, folders of several programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, List

import pytest
from servers import Receiver

from sluice import SluiceClient

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no spool")

_AWAY = (503, {"detail": "not now"})
PROGRAM = """
import os, signal, sys, time, sluice
sluice.configure(base_url=sys.argv[1], api_key="k", spool_dir=sys.argv[2])
def call(name): sluice.record_tool_call(name, {}, "ok")
"""


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def run(receiver: Receiver, folder: Path, program: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PROGRAM + program, receiver.url, str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def files_of(folder: Path) -> List[Path]:
    # Folders come and go meanwhile, which `rglob` raises and `os.walk` passes over.
    return sorted(Path(at) / name for at, _, names in os.walk(folder) for name in names)


def spooled_ids(folder: Path) -> List[str]:
    segments = [path for path in files_of(folder) if path.suffix == ".jsonl"]
    lines = [line for path in segments for line in path.read_text().splitlines()]
    return sorted(json.loads(line)["id"] for line in lines)


def client_of(receiver: Receiver, folder: Path, **options: Any) -> SluiceClient:
    return SluiceClient(api_key="k", base_url=receiver.url, spool_dir=str(folder), **options)


def ids_of(receiver: Receiver) -> List[str]:
    return sorted(str(record["id"]) for record in receiver.taken)


def test_what_a_killed_program_left_is_sent_once_by_the_next(receiver: Receiver, tmp_path: Path) -> None:
    receiver.refuse = _AWAY
    program = """
for at in range(50): call(f"t{at}")
def lines():
    files = [os.path.join(at, name) for at, _, names in os.walk(sys.argv[2]) for name in names]
    return sum(open(file).read().count("\\n") for file in files if file.endswith(".jsonl"))
while lines() < 50: time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert run(receiver, tmp_path, program).returncode == -signal.SIGKILL
    left = spooled_ids(tmp_path)
    assert len(left) == 50
    assert {path.stat().st_mode & 0o777 for path in files_of(tmp_path)} == {0o600}
    receiver.refuse = None
    client = client_of(receiver, tmp_path)
    assert client.flush(20)
    assert ids_of(receiver) == left
    client.shutdown()
    assert files_of(tmp_path) == []


def test_an_ending_program_loses_nothing(receiver: Receiver, tmp_path: Path) -> None:
    receiver.refuse = _AWAY
    done = run(receiver, tmp_path, "call('last')")
    assert done.returncode == 0
    assert "0 are lost, the others are on disk" in done.stderr
    receiver.refuse = None
    assert run(receiver, tmp_path, "sluice.flush(20)").returncode == 0
    assert [record["request_body"]["tool_name"] for record in receiver.taken] == ["last"]
    assert files_of(tmp_path) == []


def test_what_does_not_fit_in_memory_is_read_again(receiver: Receiver, tmp_path: Path) -> None:
    receiver.refuse = _AWAY
    client = client_of(receiver, tmp_path, max_queue_bytes=20_000)
    for at in range(100):
        client.record_tool_call("t", {"at": at, "text": "x" * 1_000}, "ok")
        expected = at + 1
        until(lambda: len(spooled_ids(tmp_path)) == expected)
    assert client.stats().held_bytes <= 20_000
    receiver.refuse = None
    assert client.flush(30)
    assert {record["request_body"]["arguments"]["at"] for record in receiver.taken} == set(range(100))
    assert sum(client.stats().dropped.values()) == 0
    client.shutdown()
    assert files_of(tmp_path) == []


def test_its_size_is_bounded(receiver: Receiver, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    receiver.refuse = _AWAY
    client = client_of(receiver, tmp_path, max_spool_bytes=5_000)
    for at in range(20):
        client.record_tool_call("t", {"at": at, "text": "x" * 1_000}, "ok")
        client.flush(0.01)
    until(lambda: "the spool is full" in caplog.text)
    assert sum(path.stat().st_size for path in files_of(tmp_path)) <= 5_000
    receiver.refuse = None
    assert client.flush(20)
    assert len(receiver.taken) == 20
    client.shutdown()


def test_a_running_program_s_records_are_its_own(receiver: Receiver, tmp_path: Path) -> None:
    receiver.refuse = _AWAY
    running = client_of(receiver, tmp_path)
    running.record_tool_call("t", {}, "ok")
    until(lambda: len(spooled_ids(tmp_path)) == 1)
    other = client_of(receiver, tmp_path)
    assert other.flush(1) and other.stats().sent == 0
    stranger = SluiceClient(api_key="another", base_url=receiver.url, spool_dir=str(tmp_path))
    running.shutdown(0.1)
    receiver.refuse = None
    assert stranger.flush(1) and receiver.taken == []
    assert client_of(receiver, tmp_path).flush(20)
    assert len(receiver.taken) == 1


def test_a_forked_child_leaves_its_parent_s_records(receiver: Receiver, tmp_path: Path) -> None:
    program = """
call("parent")
child_id = os.fork()
call("child" if child_id == 0 else "parent again")
if child_id == 0: sluice.flush(10); os._exit(0)
os.waitpid(child_id, 0)
"""
    done = run(receiver, tmp_path, program)
    assert (done.returncode, done.stderr) == (0, "")
    names = sorted(record["request_body"]["tool_name"] for record in receiver.taken)
    assert names == ["child", "parent", "parent again"]
    assert list(tmp_path.rglob("*.jsonl")) == []


def test_a_folder_that_cannot_be_written_keeps_records_in_memory(
    receiver: Receiver, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    client = client_of(receiver, tmp_path / "file")
    client.record_tool_call("t", {}, "ok")
    assert client.flush(10) and len(receiver.taken) == 1
    assert "records wait in memory alone" in caplog.text
