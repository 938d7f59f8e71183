"""The programs that pages print, run as they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest
from provider import Provider
from servers import Receiver

_ROOT = Path(__file__).parents[1]
# The repository's page, or the copy that `scripts/test --platform python` puts here.
_PAGES = [_ROOT / "README.md", _ROOT / "applications.md", _ROOT / "../../docs/applications.md"]


def _programs() -> List[str]:
    pages = [page.read_text(encoding="utf-8") for page in _PAGES if page.exists()]
    return [found for page in pages for found in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]


@pytest.mark.parametrize("program", _programs())
def test_runs_as_printed(program: str, provider: Provider, receiver: Receiver) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": f"{provider.url}/v1",
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": provider.url,
        "SERVICE_API_KEY": "svc_test",
        "SERVICE_BASE_URL": receiver.url,
        "GATEWAY_URL": provider.url,
        "PROXY_API_KEY": "proxy",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    if "proxy_url" in program:
        # The gateway records it.
        (headers,) = provider.headers
        assert headers["authorization"] == "Bearer proxy" and "x-service-session-id" in headers
        assert receiver.taken == []
        return
    assert len(receiver.taken) >= 1
    assert len({record["session_id"] for record in receiver.taken}) == 1
