"""Model calls, recognised by their address."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit


class ModelCall(NamedTuple):
    """``model``: from the path of Google's and Bedrock's calls; elsewhere the body names it.
    ``names_model``: other servers have the path too, so the call is a model's only if its request names one.
    """

    model: str | None
    provider: str | None
    names_model: bool

    def is_model_call(self, body: str) -> bool:
        """Whether a request with this text calls a model, where the path alone does not show it."""
        return not self.names_model or _NAMED_MODEL.search(body) is not None


_PATHS_WITH_MODEL = (
    # Google: `/v1beta/models/gemini-x:generateContent`.
    # The last is Vertex AI's for embeddings and images.
    re.compile(
        r"/models/([^/:]+):(?:generateContent|streamGenerateContent|embedContent|batchEmbedContents|predict)$",
        re.IGNORECASE,
    ),
    # Anthropic's and Mistral's clients at Google and Bedrock: bodies without a model.
    re.compile(r"/models/(?!count-tokens:)([^/:]+):(?:rawPredict|streamRawPredict)$", re.IGNORECASE),
    re.compile(
        r"/model/([^/]+)/(?:invoke|invoke-with-response-stream|converse|converse-stream)$", re.IGNORECASE
    ),
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
#: Chat, text and embeddings of Cohere, which others have too; reranking; Google's interactions.
_DIRECTLY = re.compile(r"/v[12]/(?:chat|generate|embed)$|/rerank$|/interactions$")
#: Ollama. Applications' own chats often have the first path.
_OLLAMA = re.compile(r"/api/(?:chat|generate|embed|embeddings)$")
_NAMED_MODEL = re.compile(r'"model"\s*:\s*"')
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
    ("ollama.com", "ollama"),
)


def model_call_of(url: str, is_mistral: bool = False) -> ModelCall | None:
    """The model call of a POST to ``url``; None for other requests, which are not recorded."""
    parts = urlsplit(url)
    path = parts.path
    found = next((match for match in (pattern.search(path) for pattern in _PATHS_WITH_MODEL) if match), None)
    provider = _provider_of((parts.hostname or "").lower(), path)
    names_model = _OLLAMA.search(path) is not None
    is_call = path.endswith(_PATH_ENDS) and not _THREAD_MESSAGES.search(path)
    is_conversation = (is_mistral or provider == "mistral") and _CONVERSATIONS.search(path)
    if not (found or names_model or is_call or _DIRECTLY.search(path) or is_conversation):
        return None
    return ModelCall(None if found is None else unquote(found.group(1)), provider, names_model)


def _provider_of(host: str, path: str) -> str | None:
    for end, provider in _PROVIDERS:
        if host == end or host.endswith(end if end.startswith(".") else f".{end}"):
            return provider
    if "/openai/deployments/" in path:
        return "azure"
    return "ollama" if _OLLAMA.search(path) else None
