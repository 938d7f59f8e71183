"""The providers' official clients, wrapped, against a server that speaks their protocols."""

from __future__ import annotations

import asyncio
import gc
from typing import Any, Callable, Dict

import anthropic
import httpx
import openai
import pytest
from provider import SAID, Provider

from sluice import SluiceClient

USER: Any = [{"role": "user", "content": "Hi"}]
ASK: Dict[str, Any] = {"model": "m", "messages": USER}


def open_ai(provider: Provider, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(api_key="k", base_url=f"{provider.url}/v1", **options)


def async_open_ai(provider: Provider) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="k", base_url=f"{provider.url}/v1")


def claude(provider: Provider) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="k", base_url=provider.url)


def chat_text(answer: Any) -> Any:
    return answer["choices"][0]["message"]["content"]


def message_text(answer: Any) -> Any:
    return answer["content"][0]["text"]


def _openai(client: SluiceClient, provider: Provider) -> Any:
    return client.wrap(open_ai(provider)).chat.completions.create(**ASK).choices[0].message.content


def _openai_streamed(client: SluiceClient, provider: Provider) -> Any:
    stream = client.wrap(open_ai(provider)).chat.completions.create(**ASK, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream)


def _openai_derived(client: SluiceClient, provider: Provider) -> Any:
    derived = client.wrap(open_ai(provider)).with_options(timeout=5)
    return derived.chat.completions.create(**ASK).choices[0].message.content


def _openai_own_client(client: SluiceClient, provider: Provider) -> Any:
    # httpx itself, where the client has moved to httpx2.
    own: Any = httpx.Client(transport=client.httpx_transport())
    with own:
        answer = own.post(f"{provider.url}/v1/chat/completions", json=ASK)
    return chat_text(answer.json())


def _openai_async(client: SluiceClient, provider: Provider) -> Any:
    async def ask() -> Any:
        async with client.wrap(async_open_ai(provider)) as ai:
            return (await ai.chat.completions.create(**ASK)).choices[0].message.content

    return asyncio.run(ask())


def _openai_async_streamed(client: SluiceClient, provider: Provider) -> Any:
    async def ask() -> Any:
        async with client.wrap(async_open_ai(provider)) as ai:
            stream = await ai.chat.completions.create(**ASK, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    return asyncio.run(ask())


def _openai_raw(client: SluiceClient, provider: Provider) -> Any:
    raw = client.wrap(open_ai(provider)).chat.completions.with_raw_response.create(**ASK)
    return raw.parse().choices[0].message.content


def _responses_streamed(client: SluiceClient, provider: Provider) -> Any:
    with client.wrap(open_ai(provider)).responses.stream(model="m", input="Hi") as stream:
        return "".join(event.delta for event in stream if event.type == "response.output_text.delta")


def _anthropic(client: SluiceClient, provider: Provider) -> Any:
    answer = client.wrap(claude(provider)).messages.create(model="m", max_tokens=9, messages=USER)
    return getattr(answer.content[0], "text")


def _anthropic_stream(client: SluiceClient, provider: Provider) -> Any:
    with client.wrap(claude(provider)).messages.stream(model="m", max_tokens=9, messages=USER) as stream:
        return "".join(stream.text_stream)


def _anthropic_async_stream(client: SluiceClient, provider: Provider) -> Any:
    async def ask() -> Any:
        async with client.wrap(anthropic.AsyncAnthropic(api_key="k", base_url=provider.url)) as ai:
            async with ai.messages.stream(model="m", max_tokens=9, messages=USER) as stream:
                return "".join([text async for text in stream.text_stream])

    return asyncio.run(ask())


def _google(client: SluiceClient, provider: Provider) -> Any:
    genai = pytest.importorskip("google.genai")
    ai = client.wrap(genai.Client(api_key="k", http_options={"base_url": provider.url}))
    return ai.models.generate_content(model="model-1", contents="Hi").text


def _google_streamed(client: SluiceClient, provider: Provider) -> Any:
    genai = pytest.importorskip("google.genai")
    ai = client.wrap(genai.Client(api_key="k", http_options={"base_url": provider.url}))
    return "".join(chunk.text for chunk in ai.models.generate_content_stream(model="model-1", contents="Hi"))


def _google_async(client: SluiceClient, provider: Provider) -> Any:
    genai = pytest.importorskip("google.genai")
    # Where aiohttp is installed, it would send otherwise.
    options = {"base_url": provider.url, "httpx_async_client": httpx.AsyncClient()}
    ai = client.wrap(genai.Client(api_key="k", http_options=options))
    return asyncio.run(ai.aio.models.generate_content(model="model-1", contents="Hi")).text


def mistral_module() -> Any:
    """The client's own module; before 2.0, which Python 3.9 has, it is the package."""
    found = pytest.importorskip("mistralai.client")
    return found if hasattr(found, "Mistral") else pytest.importorskip("mistralai")


def _mistral(client: SluiceClient, provider: Provider) -> Any:
    mistral = mistral_module()
    ai = client.wrap(mistral.Mistral(api_key="k", server_url=provider.url))
    return ai.chat.complete(**ASK).choices[0].message.content


def _mistral_streamed(client: SluiceClient, provider: Provider) -> Any:
    mistral = mistral_module()
    ai = client.wrap(mistral.Mistral(api_key="k", server_url=provider.url))
    return "".join(event.data.choices[0].delta.content or "" for event in ai.chat.stream(**ASK))


def _cohere(client: SluiceClient, provider: Provider) -> Any:
    cohere = pytest.importorskip("cohere")
    ai = client.wrap(cohere.ClientV2(api_key="k", base_url=provider.url))
    return ai.chat(**ASK).message.content[0].text


def _cohere_streamed(client: SluiceClient, provider: Provider) -> Any:
    cohere = pytest.importorskip("cohere")
    ai = client.wrap(cohere.ClientV2(api_key="k", base_url=provider.url))
    events = ai.chat_stream(**ASK)
    return "".join(event.delta.message.content.text for event in events if event.type == "content-delta")


def _bedrock(client: SluiceClient, provider: Provider) -> Any:
    boto3 = pytest.importorskip("boto3")
    keys = {"aws_access_key_id": "k", "aws_secret_access_key": "s", "region_name": "us-east-1"}
    ai = client.wrap(boto3.client("bedrock-runtime", endpoint_url=provider.url, **keys))
    asked = [{"role": "user", "content": [{"text": "Hi"}]}]
    return ai.converse(modelId="model-1", messages=asked)["output"]["message"]["content"][0]["text"]


CALLS: Dict[str, Any] = {
    "OpenAI": (_openai, chat_text),
    "OpenAI, streamed": (_openai_streamed, chat_text),
    "OpenAI, a derived client": (_openai_derived, chat_text),
    "OpenAI, by httpx": (_openai_own_client, chat_text),
    "OpenAI, async": (_openai_async, chat_text),
    "OpenAI, async, streamed": (_openai_async_streamed, chat_text),
    "OpenAI, raw": (_openai_raw, chat_text),
    "OpenAI, responses, streamed": (_responses_streamed, lambda answer: message_text(answer["output"][0])),
    "Anthropic": (_anthropic, message_text),
    "Anthropic, messages.stream": (_anthropic_stream, message_text),
    "Anthropic, async messages.stream": (_anthropic_async_stream, message_text),
    "Google": (_google, lambda answer: answer["candidates"][0]["content"]["parts"][0]["text"]),
    "Google, streamed": (
        _google_streamed,
        lambda answer: answer["candidates"][0]["content"]["parts"][0]["text"],
    ),
    "Google, async": (_google_async, lambda answer: answer["candidates"][0]["content"]["parts"][0]["text"]),
    "Mistral": (_mistral, chat_text),
    "Mistral, streamed": (_mistral_streamed, chat_text),
    "Cohere": (_cohere, lambda answer: message_text(answer["message"])),
    "Cohere, streamed": (_cohere_streamed, lambda answer: message_text(answer["message"])),
    "Bedrock": (_bedrock, lambda answer: answer["output"]["message"]["content"][0]["text"]),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_recorded(
    name: str, client: SluiceClient, provider: Provider, recorded: Callable[[], Any], receiver: Any
) -> None:
    ask, text_of = CALLS[name]
    assert ask(client, provider) == SAID
    (record,) = recorded()
    assert text_of(record["response_body"]) == SAID
    assert "truncated" not in record["response_body"]
    assert (record["source"], record["status_code"], record["agent_name"]) == ("sdk", 200, "tester")
    assert "error" not in record and "aborted_by" not in record
    assert set(receiver.keys) == {"svc_test"}


def test_each_attempt_is_a_record(
    client: SluiceClient, provider: Provider, recorded: Callable[[], Any]
) -> None:
    provider.faults = [429, 500]
    assert _openai(client, provider) == SAID
    records = recorded()
    assert [record["status_code"] for record in records] == [429, 500, 200]
    assert records[0]["error"] == "not now"


def test_a_stream_that_breaks_off(
    client: SluiceClient, provider: Provider, recorded: Callable[[], Any]
) -> None:
    provider.faults = [1]
    ai = client.wrap(open_ai(provider, max_retries=0))
    # Clients for Python 3.9 raise httpx's own error.
    with pytest.raises((openai.APIConnectionError, httpx.RemoteProtocolError)):
        list(ai.chat.completions.create(**ASK, stream=True))
    (record,) = recorded()
    assert (record["aborted_by"], record["response_body"]["truncated"]) == ("upstream", True)
    assert "RemoteProtocolError" in record["error"]


def test_a_stream_that_the_program_closes(
    client: SluiceClient, provider: Provider, recorded: Callable[[], Any]
) -> None:
    with client.wrap(open_ai(provider)).chat.completions.create(**ASK, stream=True) as stream:
        next(iter(stream))
    (record,) = recorded()
    assert record["aborted_by"] == "client"


def test_a_stream_that_is_dropped(
    client: SluiceClient, provider: Provider, recorded: Callable[[], Any]
) -> None:
    client.wrap(open_ai(provider)).chat.completions.create(**ASK, stream=True)
    gc.collect()
    (record,) = recorded()
    assert (record["aborted_by"], record["status_code"]) == ("client", 200)


def test_a_cancelled_task(client: SluiceClient, provider: Provider, recorded: Callable[[], Any]) -> None:
    provider.pause_s = 0.3

    async def ask() -> None:
        async with client.wrap(async_open_ai(provider)) as ai:
            stream = await ai.chat.completions.create(**ASK, stream=True)
            async for _chunk in stream:
                await asyncio.sleep(10)

    async def cancelled() -> None:
        task = asyncio.create_task(ask())
        await asyncio.sleep(0.6)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    (record,) = recorded()
    assert record["aborted_by"] == "client"


def test_a_timeout(client: SluiceClient, provider: Provider, recorded: Callable[[], Any]) -> None:
    provider.pause_s = 1
    ai = client.wrap(open_ai(provider, max_retries=0, timeout=0.2))
    with pytest.raises(Exception):
        list(ai.chat.completions.create(**ASK, stream=True))
    (record,) = recorded()
    assert record["aborted_by"] == "client"


def test_an_address_without_a_server(client: SluiceClient, recorded: Callable[[], Any]) -> None:
    ai = client.wrap(openai.OpenAI(api_key="k", base_url="http://127.0.0.1:1/v1", max_retries=0))
    with pytest.raises(openai.APIConnectionError):
        ai.chat.completions.create(**ASK)
    (record,) = recorded()
    assert record["aborted_by"] == "upstream"
    assert "response_body" not in record and "status_code" not in record
    assert record["request_body"]["messages"] == USER


def test_other_requests_are_not_recorded(
    client: SluiceClient, provider: Provider, recorded: Callable[[], Any]
) -> None:
    ai = client.wrap(open_ai(provider))
    ai.models.list()
    ai.files.list()
    assert recorded() == []


def test_wrapping_twice_records_once(
    client: SluiceClient, provider: Provider, recorded: Callable[[], Any]
) -> None:
    ai = client.wrap(client.wrap(open_ai(provider)))
    ai.chat.completions.create(**ASK)
    client.wrap(ai.with_options(timeout=3)).chat.completions.create(**ASK)
    assert len(recorded()) == 2


def test_an_unknown_client_works_as_before(client: SluiceClient, caplog: pytest.LogCaptureFixture) -> None:
    given = object()
    assert client.wrap(given) is given
    assert "object is not a known client" in caplog.text


def test_a_long_answer_is_truncated(client: SluiceClient, receiver: Any, provider: Provider) -> None:
    small = SluiceClient(api_key="svc_test", base_url=receiver.url, max_body_bytes=200)
    small.wrap(open_ai(provider)).chat.completions.create(
        model="m", messages=[{"role": "user", "content": "é" * 999}]
    )
    assert small.flush(10)
    (record,) = receiver.taken
    assert record["request_body"]["truncated"] is True
    assert record["response_body"]["bytes"] > 200
    assert (record["prompt_tokens"], record["completion_tokens"]) == (3, 2)
