"""Makes two calls of a model, one of them streamed, traced by the instrumentation named first.

Takes the address of the provider; the exporter is set up by the environment.
"""

import importlib
import os
import sys

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

kind, provider_url = sys.argv[1:]
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is a sluice?"}]
INSTRUMENTORS = {
    "openai-v2": "opentelemetry.instrumentation.openai_v2.OpenAIInstrumentor",
    "openinference": "openinference.instrumentation.openai.OpenAIInstrumentor",
    "openinference-langchain": "openinference.instrumentation.langchain.LangChainInstrumentor",
    "traceloop": "opentelemetry.instrumentation.openai.OpenAIInstrumentor",
}

if kind == "langfuse":
    from langfuse.openai import OpenAI
else:
    from openai import OpenAI
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    tracing = TracerProvider()
    tracing.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(tracing)
    module, name = INSTRUMENTORS[kind].rsplit(".", 1)
    getattr(importlib.import_module(module), name)().instrument(tracer_provider=tracing)

if kind == "openinference-langchain":
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="model-1", base_url=provider_url, api_key="k", stream_usage=True)
    model.invoke(MESSAGES)
    list(model.stream(MESSAGES))
else:
    client = OpenAI(base_url=provider_url, api_key="k")
    client.chat.completions.create(model="model-1", messages=MESSAGES)
    options = {"include_usage": True}
    list(client.chat.completions.create(model="model-1", messages=MESSAGES, stream=True, stream_options=options))

if kind == "langfuse":
    from langfuse import get_client

    get_client().flush()
else:
    tracing.shutdown()
sys.stdout.flush()
# Threads of exporters may outlive their work.
os._exit(0)
