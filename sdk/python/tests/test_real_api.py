"""Calls that a real API takes: `scripts/test --platform python` starts it, and counts what it has
published.
"""

from __future__ import annotations

import asyncio
import os

import openai
import pytest
from provider import Provider

from sluice import SluiceClient

pytestmark = pytest.mark.skipif("SLUICE_TEST_API" not in os.environ, reason="no API is running")


def test_every_call_is_accepted(provider: Provider) -> None:
    count = int(os.environ["SLUICE_TEST_CALLS"])
    client = SluiceClient(api_key=os.environ["SLUICE_TEST_KEY"], base_url=os.environ["SLUICE_TEST_API"])

    async def ask() -> None:
        async with client.wrap(openai.AsyncOpenAI(api_key="k", base_url=f"{provider.url}/v1")) as ai:

            async def one(at: int) -> None:
                with client.session(f"s{at % 3}", agent_name="tester", metadata={"at": at}):
                    asked = [{"role": "user", "content": f"Hi {at} 🌊"}]
                    answer = await ai.chat.completions.create(model="m", messages=asked, stream=at % 2 == 0)
                    if at % 2 == 0:
                        assert [chunk async for chunk in answer]

            await asyncio.gather(*(one(at) for at in range(count)))

    asyncio.run(ask())
    assert client.flush(30)
    stats = client.stats()
    assert (stats.sent, sum(stats.dropped.values())) == (count, 0)
