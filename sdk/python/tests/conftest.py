from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List

import pytest
from provider import Provider
from servers import Receiver

from sluice import SluiceClient

Records = Callable[[], List[Dict[str, Any]]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    yield server
    server.stop()


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    yield server
    server.stop()


@pytest.fixture
def client(receiver: Receiver) -> Iterator[SluiceClient]:
    made = SluiceClient(api_key="svc_test", base_url=receiver.url, agent_name="tester")
    yield made
    made.shutdown()


@pytest.fixture
def recorded(client: SluiceClient, receiver: Receiver) -> Records:
    """All records after a flush, in the order of their calls."""

    def found() -> List[Dict[str, Any]]:
        assert client.flush(30), client.stats()
        return sorted(receiver.taken, key=lambda record: str(record["id"]))

    return found
