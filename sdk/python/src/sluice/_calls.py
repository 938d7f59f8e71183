"""Model calls, recognised by their address."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit


class ModelCall(NamedTuple):
    """``model``: from the path of Google's and Bedrock's calls; elsewhere the body names it."""

    model: str | None
    provider: str | None


_PATHS_WITH_MODEL = (
    # Google: `/v1beta/models/gemini-x:generateContent`.
    re.compile(r"/models/([^/:]+):(?:generateContent|streamGenerateContent)$"),
    # Anthropic's clients at Google and Bedrock: messages without a model.
    re.compile(r"/models/(?!count-tokens:)([^/:]+):(?:rawPredict|streamRawPredict)$"),
    re.compile(r"/model/([^/]+)/(?:invoke|invoke-with-response-stream|converse|converse-stream)$"),
)
_PATH_ENDS = (
    "/chat/completions",
    "/completions",
    "/responses",
    "/responses/compact",
    "/embeddings",
    "/messages",
)
#: Adds a message to an assistant's thread; calls no model.
_THREAD_MESSAGES = re.compile(r"/threads/[^/]+/messages$")
#: Cohere's chat and Google's interactions.
_DIRECTLY = re.compile(r"/v[12]/chat$|/interactions$")
#: Mistral: start, append and restart. The same paths at OpenAI are no model calls.
_CONVERSATIONS = re.compile(r"/conversations(?:/[^/]+(?:/restart)?)?$")

_PROVIDERS = (
    (".openai.azure.com", "azure"),
    (".cognitiveservices.azure.com", "azure"),
    (".services.ai.azure.com", "azure"),
    ("openai.com", "openai"),
    ("anthropic.com", "anthropic"),
    ("googleapis.com", "google"),
    ("mistral.ai", "mistral"),
    ("cohere.com", "cohere"),
    ("cohere.ai", "cohere"),
    (".amazonaws.com", "bedrock"),
    ("groq.com", "groq"),
    ("together.xyz", "together"),
    ("fireworks.ai", "fireworks"),
    ("openrouter.ai", "openrouter"),
    ("deepseek.com", "deepseek"),
    ("x.ai", "xai"),
    ("perplexity.ai", "perplexity"),
)


def model_call_of(url: str, is_mistral: bool = False) -> ModelCall | None:
    """The model call of a POST to ``url``; None for other requests, which are not recorded."""
    parts = urlsplit(url)
    path = parts.path
    found = next((match for match in (pattern.search(path) for pattern in _PATHS_WITH_MODEL) if match), None)
    is_call = path.endswith(_PATH_ENDS) and not _THREAD_MESSAGES.search(path)
    if not (found or is_call or _DIRECTLY.search(path) or (is_mistral and _CONVERSATIONS.search(path))):
        return None
    model = None if found is None else unquote(found.group(1))
    return ModelCall(model, _provider_of((parts.hostname or "").lower(), path))


def _provider_of(host: str, path: str) -> str | None:
    for end, provider in _PROVIDERS:
        if host == end or host.endswith(end if end.startswith(".") else f".{end}"):
            return provider
    return "azure" if "/openai/deployments/" in path else None
