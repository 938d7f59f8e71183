"""Makes calls of a model, streamed and not, traced by the instrumentation named first.

Takes the address of the provider; the exporter is set up by the environment.
"""

import asyncio
import importlib
import os
import sys
from typing import Any, Callable

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

kind, provider_url = sys.argv[1:]
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is a sluice?"}]
INSTRUMENTORS = {
    "openai-agents": "openinference.instrumentation.openai_agents.OpenAIAgentsInstrumentor",
    "openai-v2": "opentelemetry.instrumentation.openai_v2.OpenAIInstrumentor",
    "openinference": "openinference.instrumentation.openai.OpenAIInstrumentor",
    "openinference-langchain": "openinference.instrumentation.langchain.LangChainInstrumentor",
    "traceloop": "opentelemetry.instrumentation.openai.OpenAIInstrumentor",
    "traceloop-anthropic": "opentelemetry.instrumentation.anthropic.AnthropicInstrumentor",
}


def call_openai(client_of: Callable[..., Any]) -> None:
    client = client_of(base_url=provider_url, api_key="k")
    client.chat.completions.create(model="model-1", messages=MESSAGES)
    options = {"include_usage": True}
    list(client.chat.completions.create(model="model-1", messages=MESSAGES, stream=True, stream_options=options))


def call_anthropic() -> None:
    from anthropic import Anthropic

    client = Anthropic(base_url=provider_url.removesuffix("/v1"), api_key="k")
    asked = {"model": "model-1", "max_tokens": 9, "system": "Be brief.", "messages": MESSAGES[1:]}
    client.messages.create(**asked)
    list(client.messages.create(**asked, stream=True))


def call_langchain() -> None:
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="model-1", base_url=provider_url, api_key="k", stream_usage=True)
    model.invoke(MESSAGES)
    list(model.stream(MESSAGES))


def run_agents() -> None:
    """An agent with a tool, by responses and by chat completions."""
    from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
    from openai import AsyncOpenAI

    @function_tool
    def look_up(word: str) -> str:
        """Looks up a word."""
        return f"{word}: a gate"

    async def run() -> None:
        client = AsyncOpenAI(base_url=provider_url, api_key="k")
        for model in (OpenAIResponsesModel("model-1", client), OpenAIChatCompletionsModel("model-1", client)):
            agent = Agent(name="helper", instructions="Be brief.", model=model, tools=[look_up])
            await Runner.run(agent, "What is a sluice?")

    asyncio.run(run())


def traced() -> Callable[[], Any]:
    """Sets up the instrumentation; the result sends what is left."""
    if kind == "langfuse":
        from langfuse import get_client

        return get_client().flush
    if kind == "logfire":
        import logfire

        logfire.configure(send_to_logfire=False, console=False)
        logfire.instrument_openai()
        return logfire.shutdown
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    tracing = TracerProvider()
    tracing.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(tracing)
    # Its messages are log records.
    logging = log_records() if kind == "openai-v2" else None
    # Anthropic's client has spans of its own.
    if kind != "anthropic":
        module, name = INSTRUMENTORS[kind].rsplit(".", 1)
        providers = {"tracer_provider": tracing, **({"logger_provider": logging} if logging else {})}
        getattr(importlib.import_module(module), name)().instrument(**providers)
    return lambda: [provider.shutdown() for provider in (logging, tracing) if provider]


def log_records() -> Any:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

    logging = LoggerProvider()
    logging.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    return logging


finish = traced()
if kind in ("anthropic", "traceloop-anthropic"):
    call_anthropic()
elif kind == "openinference-langchain":
    call_langchain()
elif kind == "openai-agents":
    run_agents()
else:
    call_openai(importlib.import_module("langfuse.openai" if kind == "langfuse" else "openai").OpenAI)
finish()
sys.stdout.flush()
# Threads of exporters may outlive their work.
os._exit(0)
