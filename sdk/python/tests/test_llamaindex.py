"""LlamaIndex's own models, agents and chat engines with the handlers."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Iterator, List

import pytest

try:
    pytest.importorskip("llama_index.core")
except TypeError:
    pytest.skip("a package that it needs is not written for this Python", allow_module_level=True)

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import CustomLLM, LLMMetadata, MockLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.mock import MockFunctionCallingLLM

from sluice import SluiceClient
from sluice.llamaindex import instrument

Recorded = Callable[[], List[Any]]


@pytest.fixture(autouse=True)
def instrumented(client: SluiceClient) -> Iterator[None]:
    end = instrument(client)
    yield
    end()


def test_a_chat_with_tools_thoughts_and_images(recorded: Recorded) -> None:
    call = ToolCallBlock(tool_call_id="c1", tool_name="look", tool_kwargs={"x": 1})
    asked = [
        ChatMessage(role="system", content="Be kind"),
        ChatMessage(role="user", blocks=[TextBlock(text="Hi"), ImageBlock(url="http://localhost/a.png")]),
        ChatMessage(role="assistant", blocks=[ThinkingBlock(content="Hm"), call]),
        ChatMessage(role=MessageRole.TOOL, content="7", additional_kwargs={"tool_call_id": "c1"}),
    ]

    class Model(MockFunctionCallingLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(model_name="model-1", is_function_calling_model=True)

    Model(response_generator=lambda messages, **_: ChatMessage("Hello there", role="assistant")).chat(asked)
    (record,) = recorded()
    function = {"name": "look", "arguments": '{"x":1}'}
    assert record["request_body"]["messages"] == [
        {"role": "system", "content": "Be kind"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Hi"},
                {"type": "image_url", "image_url": {"url": "http://localhost/a.png"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "Hm",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "7", "tool_call_id": "c1"},
    ]
    assert record["request_body"]["model"] == "model-1"
    (choice,) = record["response_body"]["choices"]
    assert choice["message"] == {"role": "assistant", "content": "Hello there"}
    assert (record["source"], record["response_body"]["object"]) == ("sdk", "chat.completion")
    assert record["session_id"].startswith("ses_")


def test_a_chat_that_completes_inside_is_one_call(recorded: Recorded) -> None:
    MockLLM(max_tokens=2).chat([ChatMessage("Hi")])
    (record,) = recorded()
    assert record["response_body"]["choices"][0]["message"]["content"] == "text text"


def test_a_stream(recorded: Recorded) -> None:
    chunks = list(MockLLM(max_tokens=3).stream_chat([ChatMessage("Hi")]))
    (record,) = recorded()
    assert record["response_body"]["choices"][0]["message"]["content"] == chunks[-1].message.content
    assert 0 < record["time_to_first_token_ms"] <= record["latency_ms"]


def test_an_asynchronous_stream_of_texts(recorded: Recorded) -> None:
    async def run() -> str:
        stream = await MockLLM(max_tokens=3).astream_complete("Once upon a time")
        return [chunk.text async for chunk in stream][-1]

    text = asyncio.run(run())
    (record,) = recorded()
    assert record["request_body"]["prompt"] == "Once upon a time"
    assert record["response_body"]["choices"][0]["text"] == text


def test_an_agent_with_tools_is_one_session(recorded: Recorded) -> None:
    def double(number: int) -> int:
        """Doubles."""
        return 2 * number

    def broken(number: int) -> int:
        """Fails."""
        raise RuntimeError("no")

    def answer(messages: Any, **_: Any) -> ChatMessage:
        if any(message.role == MessageRole.TOOL for message in messages):
            return ChatMessage("4", role="assistant")
        names = ["double", "broken"]
        calls = [
            ToolCallBlock(tool_call_id=name, tool_name=name, tool_kwargs={"number": 2}) for name in names
        ]
        return ChatMessage(role="assistant", blocks=calls)

    async def run() -> str:
        model = MockFunctionCallingLLM(response_generator=answer)
        agent = FunctionAgent(tools=[double, broken], llm=model, streaming=False)
        return str(await agent.run("Hi"))

    assert asyncio.run(run()) == "4"
    records = recorded()
    assert len({record["session_id"] for record in records}) == 1
    tools = {record["request_body"].get("tool_name"): record for record in records}
    assert tools["double"]["request_body"]["arguments"] == {"number": 2}
    assert tools["double"]["response_body"] == {"result": 4}
    assert "no" in tools["broken"]["error"]
    models = [record for record in records if "messages" in record["request_body"]]
    assert len(models) == 2 and len(records) == 4
    called = models[0]["response_body"]["choices"][0]["message"]["tool_calls"]
    assert [call["function"]["name"] for call in called] == ["double", "broken"]


def test_a_program_s_session_is_kept(client: SluiceClient, recorded: Recorded) -> None:
    with client.session("ticket-1"):
        SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=1)).chat("Hi")
    assert [record["session_id"] for record in recorded()] == ["ticket-1"]


class Broken(CustomLLM):
    """Fails at once, or in the middle of a stream."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="model-2")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise ValueError("overloaded")

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        def parts() -> Iterator[Any]:
            yield from MockLLM(max_tokens=1).stream_complete(prompt)
            raise ValueError("broken off")

        return parts()

    @llm_chat_callback()
    def chat(self, messages: Any, **kwargs: Any) -> Any:
        raise ValueError("overloaded")


def test_models_that_fail(recorded: Recorded) -> None:
    with pytest.raises(ValueError, match="overloaded"):
        Broken().chat([ChatMessage("Hi")])
    with pytest.raises(ValueError, match="broken off"):
        list(Broken().stream_complete("Hi"))
    records = [record for record in recorded() if record["request_body"].get("model") == "model-2"]
    assert [record["error"] for record in records] == ["ValueError: overloaded", "ValueError: broken off"]
    assert all("response_body" not in record for record in records)


def test_ended_handlers_record_nothing(client: SluiceClient, recorded: Recorded) -> None:
    instrument(client)()
    MockLLM(max_tokens=1).complete("Hi")
    assert len(recorded()) == 1
