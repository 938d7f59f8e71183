"""Clients that call through the gateway; here the provider stands for it, which sees what it is sent."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Dict, Iterator

import httpx
import openai
import pytest
from provider import SAID, Provider

from sluice import SluiceClient

USER: Any = [{"role": "user", "content": "Hi"}]
ASK: Dict[str, Any] = {"model": "m", "messages": USER}


@pytest.fixture
def gateway(receiver: Any, provider: Provider) -> Iterator[SluiceClient]:
    made = SluiceClient(
        api_key="svc_test",
        base_url=receiver.url,
        proxy_url=provider.url,
        proxy_api_key="proxy",
        agent_name="Ägent",
    )
    yield made
    made.shutdown()


def test_address_key_labels_and_an_identifier_for_each_attempt(
    gateway: SluiceClient, provider: Provider, receiver: Any
) -> None:
    provider.faults = [500]
    ai = gateway.wrap(openai.OpenAI(api_key="sk-very-secret", base_url="https://api.openai.com/v1"))
    with gateway.session("s1", metadata={"team": "x"}, context=[1, "/messages/2"]):
        answer = ai.with_options(timeout=20).chat.completions.create(**ASK)
    assert answer.choices[0].message.content == SAID
    assert provider.seen == ["/v1/chat/completions"] * 2
    first, second = provider.headers
    assert first["authorization"] == "Bearer proxy"
    assert first["x-service-session-id"] == "s1"
    assert first["x-service-metadata"] == '{"team":"x"}'
    assert first["x-service-context"] == "1,/messages/2"
    assert first["x-service-agent-name"].encode("latin-1").decode() == "Ägent"
    assert first["x-service-request-id"].startswith("req_")
    assert second["x-service-request-id"] != first["x-service-request-id"]
    assert "secret" not in str(provider.headers)
    assert gateway.flush() and receiver.taken == []


def test_an_asynchronous_stream(gateway: SluiceClient, provider: Provider) -> None:
    async def ask() -> str:
        async with gateway.wrap(openai.AsyncOpenAI(api_key="k", base_url="http://nowhere/v1")) as ai:
            stream = await ai.chat.completions.create(**ASK, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert asyncio.run(ask()) == SAID
    assert [headers["authorization"] for headers in provider.headers] == ["Bearer proxy"]


def test_what_headers_cannot_carry_never_fails_the_call(
    gateway: SluiceClient, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    ai = gateway.wrap(openai.OpenAI(api_key="k", base_url="http://nowhere/v1"))
    with gateway.session(" a\x01b\x7f\tc\x85 ", metadata={"text": "x" * 20_000}):
        ai.chat.completions.create(**ASK)
    with gateway.session("\t", metadata={"huge": 2**64}):
        ai.chat.completions.create(**ASK)
    first, second = provider.headers
    assert (first["x-service-session-id"], "x-service-metadata" in first) == ("a b  c", False)
    assert ("x-service-session-id" in second, second["x-service-metadata"]) == (
        False,
        '{"huge":"18446744073709551616"}',
    )
    assert "metadata is not recorded: it has 20011 bytes" in caplog.text


def test_azure_keeps_its_path_and_version_and_loses_its_key(
    gateway: SluiceClient, provider: Provider
) -> None:
    made = openai.AzureOpenAI(
        api_key="azure-secret", azure_endpoint="https://x.openai.azure.com", api_version="2024-10-21"
    )
    gateway.wrap(made).chat.completions.create(model="dep-1", messages=USER)
    assert provider.targets == ["/openai/deployments/dep-1/chat/completions?api-version=2024-10-21"]
    assert "azure-secret" not in str(provider.headers)


def test_another_client_of_the_same_connections_never_sends_the_gateway_s_key(
    gateway: SluiceClient, recorded: Callable[[], Any], receiver: Any
) -> None:
    elsewhere = Provider()
    shared = httpx.Client()
    gateway.wrap(openai.OpenAI(api_key="k", base_url="http://nowhere/v1", http_client=shared))
    other = gateway.wrap(httpx.Client(transport=shared._transport))
    other.post(f"{elsewhere.url}/v1/chat/completions", json=ASK, headers={"authorization": "Bearer own"})
    assert [headers["authorization"] for headers in elsewhere.headers] == ["Bearer own"]
    assert gateway.flush(10) and len(receiver.taken) == 1
    elsewhere.stop()


def test_other_formats_are_recorded_directly(
    gateway: SluiceClient, provider: Provider, receiver: Any
) -> None:
    anthropic = pytest.importorskip("anthropic")
    ai = gateway.wrap(anthropic.Anthropic(api_key="k", base_url=provider.url))
    ai.messages.create(model="m", max_tokens=9, messages=USER)
    assert gateway.flush(10) and len(receiver.taken) == 1


def test_an_unknown_client_keeps_its_address(
    gateway: SluiceClient, caplog: pytest.LogCaptureFixture
) -> None:
    class Unknown:
        base_url = "http://own/v1"
        chat = _client = object()

    assert gateway.wrap(Unknown()).base_url == "http://own/v1"
    assert "Unknown is not a known client" in caplog.text


def test_without_a_key_calls_do_not_use_the_gateway(
    provider: Provider, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_PROXY_URL", "http://gateway:8080")
    monkeypatch.delenv("SERVICE_API_KEY", raising=False)
    ai = SluiceClient().wrap(openai.OpenAI(api_key="own", base_url=f"{provider.url}/v1"))
    ai.chat.completions.create(**ASK)
    assert [headers["authorization"] for headers in provider.headers] == ["Bearer own"]
    assert "PROXY_API_KEY" in caplog.text


def test_an_invalid_address_is_said_at_the_start() -> None:
    with pytest.raises(ValueError, match="proxy_url: expected an http or https address, got 'gateway'"):
        SluiceClient(api_key="k", proxy_url="gateway")
