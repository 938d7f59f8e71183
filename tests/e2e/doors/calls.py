"""Has the conversations of a file with one client, through one door, and prints when each began and ended.

Arguments: client, door, file. Doors: ``gateway`` (the plain client), ``sdk``, or an instrumentation.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
import os
import sys
import time
from typing import Any, Callable, Dict, List

client_name, door, file = sys.argv[1:]
PROVIDER = os.environ["DOOR_URL"]
KEY = os.environ["DOOR_KEY"]
IS_SDK = door == "sdk"
Ask = Callable[[Dict[str, Any], Dict[str, Any]], None]


def wrapped(client: Any) -> Any:
    if not IS_SDK:
        return client
    import sluice

    return sluice.wrap(client)


def labels() -> Dict[str, str]:
    return {"X-Service-Agent-Name": "tester"} if door == "gateway" else {}


def openai() -> Ask:
    module = importlib.import_module("langfuse.openai" if door == "langfuse" else "openai")
    options = {"max_retries": 0, "default_headers": labels()}
    client = wrapped(module.OpenAI(base_url=f"{PROVIDER}/v1", api_key=KEY, **options))

    def ask(asked: Dict[str, Any], _how: Dict[str, Any]) -> None:
        answer = client.chat.completions.create(**asked)
        if asked.get("stream"):
            list(answer)

    return ask


def httpx_alone() -> Ask:
    import httpx

    transport = importlib.import_module("sluice").httpx_transport() if IS_SDK else None
    http = httpx.Client(transport=transport, headers=labels())

    def ask(asked: Dict[str, Any], _how: Dict[str, Any]) -> None:
        headers = {"authorization": f"Bearer {KEY}"}
        http.post(f"{PROVIDER}/v1/chat/completions", json=asked, headers=headers).raise_for_status()

    return ask


def anthropic() -> Ask:
    from anthropic import Anthropic

    client = wrapped(Anthropic(base_url=PROVIDER, api_key=KEY, max_retries=0, default_headers=labels()))

    def ask(asked: Dict[str, Any], _how: Dict[str, Any]) -> None:
        answer = client.messages.create(**asked)
        if asked.get("stream"):
            list(answer)

    return ask


def google() -> Ask:
    from google import genai

    client = wrapped(genai.Client(api_key=KEY, http_options={"base_url": PROVIDER, "headers": labels()}))

    def ask(asked: Dict[str, Any], how: Dict[str, Any]) -> None:
        if how["isStream"]:
            list(client.models.generate_content_stream(**asked))
        else:
            client.models.generate_content(**asked)

    return ask


def mistral() -> Ask:
    from mistralai.client import Mistral

    client = wrapped(Mistral(api_key=KEY, server_url=PROVIDER))

    def ask(asked: Dict[str, Any], how: Dict[str, Any]) -> None:
        given = {name: value for name, value in asked.items() if name not in ("stream", "stream_options")}
        given.update(model="mistral-medium-latest", http_headers=labels())
        if how["isStream"]:
            list(client.chat.stream(**given))
        else:
            client.chat.complete(**given)

    return ask


def cohere() -> Ask:
    import cohere as module

    client = wrapped(module.ClientV2(api_key=KEY, base_url=PROVIDER))

    def ask(asked: Dict[str, Any], how: Dict[str, Any]) -> None:
        options: Any = {"additional_headers": labels(), "max_retries": 0}
        if how["isStream"]:
            list(client.chat_stream(**asked, request_options=options))
        else:
            client.chat(**asked, request_options=options)

    return ask


def bedrock() -> Ask:
    import boto3
    from botocore.config import Config

    keys = {"aws_access_key_id": "k", "aws_secret_access_key": "s", "region_name": "eu-central-1"}
    client = wrapped(
        boto3.client(
            "bedrock-runtime", endpoint_url=PROVIDER, config=Config(retries={"max_attempts": 0}), **keys
        )
    )

    def add_headers(params: Any, **_: Any) -> None:
        params["headers"].update({"X-Service-Key": KEY, **labels()})

    if door == "gateway":
        client.meta.events.register("before-call.bedrock-runtime", add_headers)

    def ask(asked: Dict[str, Any], how: Dict[str, Any]) -> None:
        for message in asked["messages"]:
            for part in message["content"]:
                if "image" in part:
                    source = part["image"]["source"]
                    source["bytes"] = base64.b64decode(source["bytes"])
        if how["isStream"]:
            list(client.converse_stream(**asked)["stream"])
        else:
            client.converse(**asked)

    return ask


def langchain() -> Ask:
    from langchain_openai import ChatOpenAI

    config: Any = {}
    if IS_SDK:
        from sluice.langchain import SluiceCallbackHandler

        config = {"callbacks": [SluiceCallbackHandler()]}

    def ask(asked: Dict[str, Any], how: Dict[str, Any]) -> None:
        model = ChatOpenAI(
            model=asked["model"],
            base_url=f"{PROVIDER}/v1",
            api_key=KEY,
            max_retries=0,
            stream_usage=True,
            temperature=asked["temperature"],
            n=asked.get("n"),
            default_headers=labels(),
        )
        runnable: Any = model.bind_tools(asked["tools"]) if "tools" in asked else model
        if how["isStream"]:
            list(runnable.stream(asked["messages"], config))
        else:
            runnable.invoke(asked["messages"], config)

    return ask


def llamaindex() -> Ask:
    """With a model of its own: those of LlamaIndex for OpenAI need an older client."""
    import httpx
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ImageBlock, TextBlock, ThinkingBlock
    from llama_index.core.llms import CustomLLM, LLMMetadata
    from llama_index.core.llms.callbacks import llm_chat_callback

    if IS_SDK:
        from sluice.llamaindex import instrument

        instrument()
    http = httpx.Client(base_url=f"{PROVIDER}/v1", headers={"authorization": f"Bearer {KEY}", **labels()})
    asked_now: Dict[str, Any] = {}

    class Model(CustomLLM):
        model: str = "gpt-4.1-mini"
        temperature: float = 0.5

        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(model_name=self.model, is_chat_model=True)

        @llm_chat_callback()
        def chat(self, messages: Any, **kwargs: Any) -> Any:
            answer = http.post("/chat/completions", json=asked_now)
            answer.raise_for_status()
            said = answer.json()["choices"][0]["message"]
            more = {"tool_calls": said["tool_calls"]} if "tool_calls" in said else {}
            thoughts = [ThinkingBlock(content=said["reasoning_content"])] if "reasoning_content" in said else []
            blocks = [*thoughts, TextBlock(text=said["content"] or "")]
            message = ChatMessage(role="assistant", blocks=blocks, additional_kwargs=more)
            return ChatResponse(message=message, raw=answer.json())

        @llm_chat_callback()
        def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
            def parts() -> Any:
                text, calls = "", []
                with http.stream("POST", "/chat/completions", json=asked_now) as answer:
                    for line in answer.iter_lines():
                        if not line.startswith("data: {"):
                            continue
                        chunk = json.loads(line[6:])
                        delta = chunk["choices"][0]["delta"] if chunk["choices"] else {}
                        piece = delta.get("content") or ""
                        text += piece
                        for call in delta.get("tool_calls") or []:
                            if "id" in call:
                                calls.append(call)
                            else:
                                calls[-1]["function"]["arguments"] += call["function"]["arguments"]
                        more = {"tool_calls": calls} if calls else {}
                        message = ChatMessage(role="assistant", content=text, additional_kwargs=more)
                        yield ChatResponse(message=message, delta=piece, raw=chunk)

            return parts()

        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            raise NotImplementedError

        def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            raise NotImplementedError

    def message(given: Dict[str, Any]) -> Any:
        content = given["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        blocks: List[Any] = [
            TextBlock(text=part["text"])
            if part["type"] == "text"
            else ImageBlock(url=part["image_url"]["url"])
            for part in parts
        ]
        more = {name: value for name, value in given.items() if name in ("tool_calls", "tool_call_id")}
        return ChatMessage(role=given["role"], blocks=blocks, additional_kwargs=more)

    def ask(asked: Dict[str, Any], how: Dict[str, Any]) -> None:
        asked_now.clear()
        asked_now.update(asked)
        messages = [message(given) for given in asked["messages"]]
        more = {name: asked[name] for name in ("tools", "n") if name in asked}
        if how["isStream"]:
            list(Model().stream_chat(messages, **more))
        else:
            Model().chat(messages, **more)

    return ask


def agents() -> Ask:
    from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool
    from openai import AsyncOpenAI

    @function_tool
    def look_up(word: str) -> str:
        """Looks up a word."""
        return "A sluice is a gate."

    def items(given: Dict[str, Any]) -> List[Any]:
        content = given["content"]
        if given["role"] == "tool":
            output = {"type": "function_call_output", "call_id": given["tool_call_id"], "output": content}
            return [output]
        if "tool_calls" in given:
            return [
                {"type": "function_call", "call_id": call["id"], **call["function"]}
                for call in given["tool_calls"]
            ]
        if isinstance(content, str):
            return [{"role": given["role"], "content": content}]
        parts = [
            {"type": "input_text", "text": part["text"]}
            if part["type"] == "text"
            else {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}
            for part in content
        ]
        return [{"role": given["role"], "content": parts}]

    def ask(asked: Dict[str, Any], how: Dict[str, Any]) -> None:
        system = [given["content"] for given in asked["messages"] if given["role"] == "system"]
        settings = ModelSettings(temperature=asked["temperature"], include_usage=True)

        async def run() -> None:
            client = AsyncOpenAI(
                base_url=f"{PROVIDER}/v1", api_key=KEY, max_retries=0, default_headers=labels()
            )
            agent = Agent(
                name="tester",
                instructions=system[0] if system else None,
                model=OpenAIChatCompletionsModel(asked["model"], client),
                model_settings=settings,
                tools=[look_up] if "tools" in asked else [],
                tool_use_behavior="stop_on_first_tool",
            )
            given = [item for one in asked["messages"] if one["role"] != "system" for item in items(one)]
            if how["isStream"]:
                async for _ in Runner.run_streamed(agent, given).stream_events():
                    pass
            else:
                await Runner.run(agent, given)

        asyncio.run(run())

    return ask


CLIENTS: Dict[str, Callable[[], Ask]] = {
    "openai": openai,
    "httpx": httpx_alone,
    "anthropic": anthropic,
    "google": google,
    "mistral": mistral,
    "cohere": cohere,
    "bedrock": bedrock,
    "langchain": langchain,
    "llamaindex": llamaindex,
    "agents": agents,
}
INSTRUMENTORS = {
    "openai-agents": "openinference.instrumentation.openai_agents.OpenAIAgentsInstrumentor",
    "openai-v2": "opentelemetry.instrumentation.openai_v2.OpenAIInstrumentor",
    "openinference": "openinference.instrumentation.openai.OpenAIInstrumentor",
    "openinference-langchain": "openinference.instrumentation.langchain.LangChainInstrumentor",
    "traceloop": "opentelemetry.instrumentation.openai.OpenAIInstrumentor",
    "traceloop-anthropic": "opentelemetry.instrumentation.anthropic.AnthropicInstrumentor",
}


def opened() -> Callable[[], Any]:
    """Sets up the door; the result sends what is left."""
    if door == "gateway":
        return lambda: None
    if door == "sdk":
        import sluice

        sluice.configure(agent_name="tester")
        return lambda: sluice.flush(30)
    if door == "langfuse":
        from langfuse import get_client

        return get_client().flush
    if door == "logfire":
        import logfire

        logfire.configure(send_to_logfire=False, console=False)
        logfire.instrument_openai()
        return logfire.shutdown
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    tracing = TracerProvider()
    tracing.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(tracing)
    # Anthropic's client has spans of its own.
    if door != "anthropic":
        module, name = INSTRUMENTORS[door].rsplit(".", 1)
        getattr(importlib.import_module(module), name)().instrument(tracer_provider=tracing)
    return tracing.shutdown


finish = opened()
ask = CLIENTS[client_name]()
times: List[Any] = []
with open(file, encoding="utf-8") as given:
    conversations = json.load(given)
for one in conversations:
    start = time.time()
    problem = None
    try:
        ask(one["asked"], one)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    times.append({"name": one["name"], "startMs": start * 1000, "endMs": time.time() * 1000, "problem": problem})
    # Identifiers have milliseconds.
    time.sleep(0.02)
finish()
print(json.dumps(times))
sys.stdout.flush()
# Threads of exporters may outlive their work.
os._exit(0)
