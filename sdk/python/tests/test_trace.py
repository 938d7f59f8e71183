"""Functions, tools and sessions."""

from __future__ import annotations

import asyncio
import gc
import inspect
from typing import Any, AsyncIterator, Callable, Iterator, List

import openai
import pytest
from provider import Provider, sse

import sluice
from sluice import Session, SluiceClient

Recorded = Callable[[], List[Any]]


def test_a_function(client: SluiceClient, recorded: Recorded) -> None:
    @client.trace(model="local-model", agent_name="summariser")
    def summarise(text: str, *, words: int) -> str:
        """Shortens."""
        return text[:words]

    assert summarise("First things first", words=5) == "First"
    assert (summarise.__name__, summarise.__doc__) == ("summarise", "Shortens.")
    (record,) = recorded()
    assert record["request_body"] == {
        "type": "trace",
        "function": "summarise",
        "arguments": ["First things first", {"words": 5}],
    }
    assert record["response_body"] == {"result": "First"}
    assert (record["source"], record["model"], record["agent_name"]) == ("trace", "local-model", "summariser")
    assert record["session_id"].startswith("ses_")


def test_an_error_passes_and_is_recorded(client: SluiceClient, recorded: Recorded) -> None:
    @client.trace
    def fail() -> None:
        raise ValueError("no https://user:secret@host/?api_key=abc1234567")

    with pytest.raises(ValueError, match="secret"):
        fail()
    (record,) = recorded()
    assert record["error"] == "ValueError: no https://[not recorded]@host/?api_key=[not recorded]"


def test_a_coroutine(client: SluiceClient, recorded: Recorded) -> None:
    @client.trace
    async def answer(question: str) -> List[str]:
        await asyncio.sleep(0)
        return [question]

    assert inspect.iscoroutinefunction(answer)
    assert asyncio.run(answer("q")) == ["q"]
    (record,) = recorded()
    assert record["response_body"] == {"result": ["q"]}


def test_a_generator(client: SluiceClient, recorded: Recorded) -> None:
    @client.trace
    def count() -> Iterator[Any]:
        asked = yield "Hel"
        yield "lo"
        yield {"asked": asked}
        return 7

    assert inspect.isgeneratorfunction(count)
    made: Any = count()
    assert next(made) == "Hel"
    assert made.send("why") == "lo"
    assert list(made) == [{"asked": "why"}]
    (record,) = recorded()
    assert record["response_body"] == {"result": {"yielded": ["Hello", {"asked": "why"}], "returned": 7}}


def test_an_asynchronous_generator(client: SluiceClient, recorded: Recorded) -> None:
    @client.trace
    async def count() -> AsyncIterator[str]:
        yield "a"
        yield "b"

    async def read() -> List[str]:
        return [text async for text in count()]

    assert asyncio.run(read()) == ["a", "b"]
    (record,) = recorded()
    assert record["response_body"] == {"result": {"yielded": ["ab"]}}


def test_a_generator_that_is_not_read_to_its_end(client: SluiceClient, recorded: Recorded) -> None:
    @client.trace
    def count() -> Iterator[int]:
        yield from range(10)

    for number in count():
        if number == 1:
            break
    count()  # Nothing of it has run.
    gc.collect()
    (broken,) = recorded()
    assert broken["response_body"] == {"result": {"yielded": [0, 1], "returned": "[never read]"}}


def test_chunks_of_a_stream_are_recorded_as_their_message(
    client: SluiceClient, provider: Provider, recorded: Recorded
) -> None:
    ai = client.wrap(openai.OpenAI(api_key="k", base_url=f"{provider.url}/v1"))

    @client.trace
    def ask() -> Iterator[Any]:
        yield from ai.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Hi"}], stream=True
        )

    list(ask())
    traced, call = sorted(recorded(), key=lambda record: str(record["source"]), reverse=True)
    (message,) = traced["response_body"]["result"]["yielded"]
    assert message["choices"][0]["message"]["content"] == "Hello there"
    assert traced["session_id"] == call["session_id"]


def test_a_method_is_recorded_without_self(client: SluiceClient, recorded: Recorded) -> None:
    class Agent:
        @client.trace(name="Agent.run")
        def run(self, task: str) -> str:
            return task

    assert Agent().run("x") == "x"
    assert recorded()[0]["request_body"]["arguments"] == ["x"]


def test_sessions_are_nested_and_of_their_task(client: SluiceClient, recorded: Recorded) -> None:
    async def work(name: str) -> None:
        with client.session(name, metadata={"b": 2}, context=[1, "/messages/2"]):
            await asyncio.sleep(0.01)
            client.record_tool_call(name, {}, "ok")

    async def both() -> None:
        with client.session(agent_name="outer", metadata={"a": 1}):
            await asyncio.gather(work("one"), work("two"))

    asyncio.run(both())
    records = recorded()
    assert sorted((record["session_id"], record["request_body"]["tool_name"]) for record in records) == [
        ("one", "one"),
        ("two", "two"),
    ]
    assert all(
        record["metadata"] == {"a": 1, "b": 2}
        and record["agent_name"] == "outer"
        and record["context"] == [1, "/messages/2"]
        for record in records
    )


def test_values_of_any_kind(client: SluiceClient, recorded: Recorded) -> None:
    class Client:
        def __init__(self) -> None:
            self.api_key, self.name = "sk-secret", "c"

    circular: List[Any] = []
    circular.append(circular)

    class Hostile:
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError("no")

    given = {
        "client": Client(),
        "circular": circular,
        "hostile": Hostile(),
        "big": 2**70,
        "nan": float("nan"),
        "bytes": b"abc",
        "surrogate": "\ud800",
        "set": {1},
        "long": "x" * 100_000,
    }
    client.record_tool_call("t", given, Session("s"))
    (record,) = recorded()
    arguments = record["request_body"]["arguments"]
    assert arguments["client"] == {"api_key": "[not recorded]", "name": "c"}
    assert arguments["circular"] == ["[circular]"]
    assert (arguments["big"], arguments["nan"], arguments["set"]) == (str(2**70), "nan", [1])
    assert record["request_body"]["truncated"] is True
    assert len(arguments["long"]) < 70_000


def test_a_tool_call(client: SluiceClient, recorded: Recorded) -> None:
    with client.session("s", user_id="u"):
        client.record_tool_call("search", ["q"], {"found": 1}, latency_ms=12)
        client.record_tool_call("search", error=TimeoutError("late"))
    late, found = sorted(recorded(), key=lambda record: "latency_ms" in record)
    assert found["request_body"] == {
        "type": "mcp_tool_call",
        "tool_name": "search",
        "arguments": {"value": ["q"]},
    }
    assert (found["response_body"], found["source"], found["latency_ms"]) == ({"found": 1}, "mcp", 12)
    assert (late["error"], "response_body" in late) == ("TimeoutError: late", False)
    assert (found["session_id"], found["user_id"]) == ("s", "u")


def test_labels_that_ingest_would_refuse_are_left_out(
    client: SluiceClient, recorded: Recorded, caplog: pytest.LogCaptureFixture
) -> None:
    wrong: Any = 7
    with client.session(
        "s" * 300, user_id="\0", agent_tag=wrong, metadata={"n": 1, "deep": {"x": "y" * 20_000}}
    ):
        client.record_tool_call("t", {}, "ok")
    (record,) = recorded()
    assert record["session_id"] == "s" * 256
    assert not {"user_id", "agent_tag", "metadata"} & set(record)
    assert "user_id is not recorded: it contains a NUL character" in caplog.text


def test_metadata_that_is_no_mapping_does_not_raise(client: SluiceClient, recorded: Recorded) -> None:
    wrong: Any = 7
    with client.session("s", metadata={"a": 1}), client.session(metadata=wrong):
        client.record_tool_call("t", {}, "ok")
        assert client.trace(lambda: 3)() == 3
    assert ["metadata" in record for record in recorded()] == [False, False]


def test_a_session_of_mcp(client: SluiceClient, recorded: Recorded) -> None:
    class Tools:
        async def list_tools(self) -> List[str]:
            return []

        async def call_tool(self, name: str, arguments: Any = None) -> Any:
            if name == "broken":
                raise RuntimeError("no")
            return {"isError": True, "content": [{"type": "text", "text": "wrong gate"}]}

    tools = client.wrap(Tools())
    asyncio.run(tools.call_tool("open", {"gate": 1}))
    with pytest.raises(RuntimeError):
        asyncio.run(tools.call_tool("broken"))
    opened, broken = recorded()
    assert (opened["error"], opened["request_body"]["arguments"]) == ("wrong gate", {"gate": 1})
    assert broken["error"] == "RuntimeError: no"


def test_functions_of_the_module(receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sluice._standard._standard", None)

    @sluice.trace
    def twice(number: int) -> int:
        return 2 * number

    sluice.configure(api_key="k", base_url=receiver.url)
    with sluice.session("s"):
        assert twice(4) == 8
        sluice.record_tool_call("t", {}, "ok")
    assert sluice.flush()
    assert sluice.stats().sent == 2
    assert {record["session_id"] for record in receiver.taken} == {"s"}


def test_server_sent_events_of_the_tests_are_named() -> None:
    assert sse({"type": "a"}, "[DONE]") == ['event: a\ndata: {"type": "a"}\n\n', "data: [DONE]\n\n"]
