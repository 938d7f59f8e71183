"""Clients that call through the gateway, which has the provider's key and records their calls."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict
from urllib.parse import urlsplit

from ._ids import new_request_id
from ._json import to_json
from ._warn import Warn
from ._words import message_of

#: Headers with a provider's key, which the gateway replaces by its own.
_KEY_HEADERS = ("authorization", "api-key", "x-api-key")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


class Gateway:
    """``labels`` gives the fields of the session of the running code."""

    def __init__(self, url: str, key: str, labels: Callable[[], Dict[str, Any]], warn: Warn) -> None:
        self._url, self._key, self._labels, self._warn = url, key, labels, warn

    def address_of(self, base_url: str) -> str:
        """``base_url`` at the gateway, which keeps paths."""
        if self._is_here(base_url):
            return base_url
        parts = urlsplit(base_url)
        return self._url + parts.path + (f"?{parts.query}" if parts.query else "")

    def takes(self, request: Any) -> bool:
        """Whether a request goes to the gateway, which records it. It then has the gateway's key instead of
        the provider's, the session's labels, and an identifier of its own, as clients retry by themselves.
        Requests elsewhere never have that key: clients may share their connections.
        """
        if not self._is_here(str(request.url)):
            return False
        headers = request.headers
        for name in _KEY_HEADERS:
            headers.pop(name, None)
        headers["authorization"] = f"Bearer {self._key}"
        headers["x-service-request-id"] = new_request_id()
        try:
            # Else httpx takes the headers so far, which are ASCII, for a rule.
            headers.encoding = "utf-8"
            for field, text in self._label_texts().items():
                if text:
                    headers[f"x-service-{field.replace('_', '-')}"] = text
        except Exception as error:  # noqa: BLE001 -- the program's own values
            self._warn("labels", f"a call is sent to the gateway without labels: {message_of(error)}")
        return True

    def _is_here(self, url: str) -> bool:
        return url == self._url or url.startswith((f"{self._url}/", f"{self._url}?"))

    def _label_texts(self) -> Dict[str, str]:
        labels = self._labels()
        if "metadata" in labels:
            labels["metadata"] = to_json(labels["metadata"])
        if "context" in labels:
            labels["context"] = ",".join(map(str, labels["context"]))
        # Sent as UTF-8, without what headers cannot carry.
        return {field: _CONTROL.sub(" ", text).strip() for field, text in labels.items()}


def speaks_chat_completions(client: Any) -> bool:
    """Whether a client has an address, and no format of its own. Old Anthropic clients have ``completions``
    beside ``messages``.
    """
    has_address = getattr(client, "base_url", None) is not None and hasattr(client, "_client")
    speaks = hasattr(client, "chat") or hasattr(client, "completions")
    return has_address and speaks and not hasattr(client, "messages")
