"""LangChain's own models, tools and chains with the callback handler."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, List

import pytest

pytest.importorskip("langchain_core")

from langchain_core.language_models import FakeListChatModel, FakeListLLM, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from sluice import SluiceClient
from sluice.langchain import SluiceCallbackHandler

Recorded = Callable[[], List[Any]]


@pytest.fixture
def config(client: SluiceClient) -> Any:
    return {"callbacks": [SluiceCallbackHandler(client)]}


def test_a_chat_with_tools_and_usage(config: Any, recorded: Recorded) -> None:
    usage: Any = {
        "input_tokens": 5,
        "output_tokens": 2,
        "total_tokens": 7,
        "input_token_details": {"cache_read": 3},
    }
    calls: Any = [{"id": "c2", "name": "look", "args": {"x": 1}}]
    answer = AIMessage(content="Hello there", usage_metadata=usage, tool_calls=calls)
    asked = [
        SystemMessage("Be kind"),
        HumanMessage("Hi"),
        AIMessage(content="", tool_calls=calls),
        ToolMessage("7", tool_call_id="c2"),
    ]
    GenericFakeChatModel(messages=iter([answer])).invoke(asked, config)
    (record,) = recorded()
    call = {"id": "c2", "type": "function", "function": {"name": "look", "arguments": '{"x":1}'}}
    assert record["request_body"]["messages"] == [
        {"role": "system", "content": "Be kind"},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "7", "tool_call_id": "c2"},
    ]
    body = record["response_body"]
    assert body["choices"][0]["message"] == {
        "role": "assistant",
        "content": "Hello there",
        "tool_calls": [call],
    }
    assert body["usage"]["prompt_tokens_details"] == {"cached_tokens": 3}
    assert (record["source"], body["object"]) == ("sdk", "chat.completion")


def test_a_stream(config: Any, recorded: Recorded) -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("Hello there")]))
    assert "".join(str(chunk.content) for chunk in model.stream("Hi", config)) == "Hello there"
    (record,) = recorded()
    assert record["response_body"]["choices"][0]["message"]["content"] == "Hello there"
    assert 0 < record["time_to_first_token_ms"] <= record["latency_ms"]


def test_a_model_of_texts(config: Any, recorded: Recorded) -> None:
    FakeListLLM(responses=["Hello"]).invoke("Once", config)
    (record,) = recorded()
    assert record["request_body"]["prompt"] == "Once"
    assert record["response_body"]["choices"][0]["text"] == "Hello"


def test_a_chain_is_one_session(config: Any, recorded: Recorded, client: SluiceClient) -> None:
    @tool
    def double(number: int) -> int:
        """Doubles."""
        return 2 * number

    @tool
    def broken(number: int) -> int:
        """Fails."""
        raise RuntimeError("no")

    async def run(text: str, config: Any) -> Any:
        model = FakeListChatModel(responses=["4"])
        answer = await model.ainvoke(text, config)
        await double.ainvoke({"number": int(str(answer.content))}, config)
        with pytest.raises(RuntimeError):
            await broken.ainvoke({"number": 1}, config)

    asyncio.run(RunnableLambda(run).ainvoke("Hi", config))
    records = recorded()
    assert len({record["session_id"] for record in records}) == 1
    tools = {record["request_body"].get("tool_name"): record for record in records}
    assert tools["double"]["request_body"]["arguments"] == {"number": 4}
    assert tools["double"]["response_body"] == {"result": 8}
    assert tools["broken"]["error"] == "RuntimeError: no"


def test_a_model_that_fails(config: Any, recorded: Recorded) -> None:
    class Broken(FakeListChatModel):
        def _call(self, *args: Any, **kwargs: Any) -> str:
            raise ValueError("overloaded")

    with pytest.raises(ValueError, match="overloaded"):
        Broken(responses=["x"]).invoke("Hi", config)
    (record,) = recorded()
    assert (record["error"], "response_body" in record) == ("ValueError: overloaded", False)
