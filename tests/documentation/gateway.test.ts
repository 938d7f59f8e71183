import { expect, test } from '@jest/globals'
import { codingAgents, type CodingAgent } from '#capture/coding-agents.ts'
import { modelCallAt } from '#capture/model-calls.ts'
import { socketProtocolOf } from '#capture/socket-calls.ts'
import { isAllowedOnSharedAccount, isModelCall } from '#services/gateway/traffic/call-paths.ts'
import { expectPage, tableOf } from '../support/documented-page.ts'
import { providerPaths as paths } from '../support/provider-paths.ts'

const rows = paths.map(([provider, host, path]) => {
  const call = modelCallAt(host, path)
  const model = call?.model === 'NAME' || path.includes('/deployments/') ? 'path' : 'body'
  return [
    provider,
    `\`POST ${path}\``,
    isModelCall(host, path) ? 'yes' : 'no',
    isModelCall(host, path) ? model : '',
    isAllowedOnSharedAccount('POST', path) ? 'yes' : 'no',
  ]
})

const sockets = [
  [
    'OpenAI, Azure OpenAI, xAI',
    '/v1/realtime',
    'Realtime: session and items since the last response; the final response',
  ],
  [
    'OpenAI, Azure OpenAI, xAI',
    '/v1/responses',
    'Responses, as Codex uses it: `response.create`; the final response',
  ],
  [
    'Gemini',
    '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
    'Gemini Live: setup and contents since the last turn; the turn',
  ],
  [
    'Vertex AI',
    '/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent',
    'Gemini Live: setup and contents since the last turn; the turn',
  ],
].map(([provider = '', path = '', what = '']) => {
  expect(socketProtocolOf(path)).toBeDefined()
  return [provider, `\`${path}\``, what]
})

/** What each needs to call through the gateway, at GATEWAY with KEY (tests/platform/clients runs them). */
const settings: Readonly<Record<string, string>> = {
  'claude-code': '`ANTHROPIC_BASE_URL=GATEWAY`, `ANTHROPIC_API_KEY=KEY`',
  codex: '`openai_base_url = "GATEWAY/v1"` in `config.toml`, `CODEX_API_KEY=KEY`',
  'gemini-cli': '`GOOGLE_GEMINI_BASE_URL=GATEWAY`, `GEMINI_API_KEY=KEY`',
  copilot: '`COPILOT_PROVIDER_BASE_URL=GATEWAY/v1`, `COPILOT_PROVIDER_API_KEY=KEY`, `COPILOT_MODEL`',
}

const sourcesOf = (sources: CodingAgent['session']) =>
  sources.length === 0 ? 'none' : sources.map(({ from }) => from).join(', else ')
const agentRows = codingAgents.map(({ name, knownBy, session, user }) => [
  `\`${name}\``,
  settings[name] ?? '',
  knownBy,
  sourcesOf(session),
  sourcesOf(user),
])

const page = `# The gateway's upstreams

Generated from the code by \`UPDATE_DOCS=1\`. What applications set is in [applications](applications.md), every
variable in [configuration](configuration.md).

## What is recorded

The gateway forwards every path; it records model calls, whatever the provider answers, streams too. With keys
of projects, which share the account at the provider, only the paths marked *shared* are forwarded
(\`GATEWAY_FORWARD_OTHER\`). Where the path names the model, a more exact name in the answer counts.
\`GATEWAY_RECORD_OTHER\` records other paths: \`true\` for all, or a list such as \`/v1/files,/v1/batches/*\`.

${tableOf(['provider', 'path', 'recorded', 'model from', 'shared'], rows)}

### Sound and pictures

Forms and answers in sound or pictures are recorded by their words: fields of a form, prompts, transcripts.
In the place of each file, and of long base64 in calls for images and speech, stands what it is, with the
file's name where it has one:

\`\`\`json
{ "media": "audio", "media_type": "audio/mpeg", "bytes": 48121, "sha256": "…" }
\`\`\`

A body without words beside them is not read by scorers, never safe.

### WebSockets

${tableOf(['provider', 'path', 'each response is recorded as a call of'], sockets)}

- **Where**: at these paths of providers that are known to have them; \`websockets\` of an upstream or
  \`UPSTREAM_WEBSOCKETS\` says otherwise. Elsewhere the answer is 426 \`no_websocket\` at once, after which
  clients such as Codex use HTTP. A server that lacks them answers 404, which Codex tries seven times.
- **Bytes** pass as they are, both ways. The gateway adds a Close frame of its own when it stops, when a key
  is revoked, and after \`WEBSOCKET_IDLE_TIMEOUT_MS\` or \`CALL_TIMEOUT_MS\`. A socket takes one of
  \`UPSTREAM_CONNECTIONS\` as long as it lives.
- **Keys** come as for HTTP, or as the subprotocol \`openai-insecure-api-key.KEY\` of browsers.
- **Records** have the handshake's \`X-Service-*\` labels; the first response has the identifier that the
  handshake's answer names. Sound and pictures are counted, their transcripts are kept. A response whose
  socket closes before its end is recorded as broken off. Its last bytes do not wait for the disk.
- **What cannot be read** (a frame against the rules, a message beyond the memory budget) passes all the same,
  and is counted in \`sluice_gateway_websocket_messages_unread_total\`.

## Coding agents

Agent, session and user of a call are read from what these agents send of their own accord. What a call
declares by \`X-Service-*\` headers wins. The agent's name becomes \`agent_name\`; users are accounts or
installations, as none of the agents sends a name.

${tableOf(['agent', 'what it needs', 'known by', 'session', 'user'], agentRows)}

- **Claude Code with a subscription's own token**: the upstream has no credentials, so that \`Authorization\`
  passes; the gateway's key is in \`ANTHROPIC_CUSTOM_HEADERS="X-Service-Key: KEY"\`.
- **Gemini CLI with an API key sends no session.** \`GEMINI_CLI_CUSTOM_HEADERS\` can declare one. With a Google
  login it calls another service, which is forwarded and not recorded.
- **Codex** tries a WebSocket first, which passes and is recorded; where the answer is 426, it uses HTTP.
- **Bedrock's JavaScript client** speaks HTTP/2, which the gateway does not: give it
  \`requestHandler: new NodeHttpHandler()\`, or put an ingress before the gateway that speaks both.

## MCP servers

An upstream with \`kind: mcp\` is a Model Context Protocol server (streamable HTTP). Agents use the gateway's
address with the prefix and the server's own path, and present their key as \`X-Service-Key\`, because
\`Authorization\` is the server's own. Whatever header holds the gateway's key is left out, so such an upstream
needs no credentials with \`GATEWAY_AUTH=project_keys\` either. All its requests are forwarded, byte for byte.

\`\`\`yaml
upstreams:
  - name: github
    kind: mcp
    url: https://api.githubcopilot.com
    path_prefix: /github # agents use GATEWAY/github/mcp/
\`\`\`

| what passes | what is recorded |
| --- | --- |
| \`tools/call\`, answered in JSON or a stream | \`mcp_tool_call\` with arguments, result or error, as the SDK's \`wrap\` of an MCP client records it; each of a batch |
| \`tools/list\` | \`mcp_tool_list\` with the tools that this process has not seen, or that have changed |
| everything else | nothing |

- **The session** is \`Mcp-Session-Id\`, unless \`X-Service-Session-Id\` declares another.
- **A changed definition** raises [\`tool_definition_changed\`](events.md): name, description or schemas differ
  from the last ones of that server and tool ([why so](decisions/0122-tool-definitions.md)).
- **A result that comes in another stream** than the call's own answer, after a reconnection, is not joined:
  the call is recorded with the error \`the server sent no result\`.
- **Logins** (OAuth) are between agent and server. A server that names its own address as the protected
  resource makes some clients refuse the gateway's: give such an agent a token.

## One provider

\`UPSTREAM_URL\` and, unless applications bring their own key, \`UPSTREAM_API_KEY\`.

## Several providers

\`UPSTREAMS_FILE\` names a YAML or JSON file. A request goes to the first upstream that it matches by all of
\`hosts\` (the \`Host\` header), \`port\` (on which the gateway then listens too) and \`path_prefix\` (which is
removed); \`UPSTREAM_URL\`, if set, gets the rest. Without either the answer is 404 \`no_upstream\`.

\`\`\`yaml
upstreams:
  - name: openai
    url: https://api.openai.com
    hosts: [openai.llm.example.com]
    credentials: { key: { env: OPENAI_API_KEY } }
  - name: anthropic
    url: https://api.anthropic.com
    path_prefix: /anthropic
    credentials: { key: { file: /run/secrets/anthropic }, header: x-api-key }
    projects: [prj_0123456789abcdefghijklmnop]
    connections: 256
    max_waiting: 100
    breaker: { failures: 5, open_ms: 10000 }
  - name: azure
    url: https://example.openai.azure.com
    port: 8081
    credentials:
      token_url: https://login.microsoftonline.com/TENANT/oauth2/v2.0/token
      client_id: 00000000-0000-0000-0000-000000000000
      client_secret: { env: AZURE_CLIENT_SECRET }
      scope: https://cognitiveservices.azure.com/.default
  - name: own-models
    url: http://vllm.models.svc:8000
    provider: vllm
\`\`\`

| field | meaning |
| --- | --- |
| \`name\` | of logs and metrics; up to 32 of a-z, 0-9 and - |
| \`url\` | base URL |
| \`kind\` | \`model\` (default) or \`mcp\` |
| \`hosts\`, \`port\`, \`path_prefix\` | what it takes; the one without any comes last |
| \`credentials\` | a key with its header (a bearer token without one), OAuth 2 client credentials, or those of [Google or AWS](#credentials-of-google-and-aws). Secrets come from the environment or from files. Without credentials the application's \`Authorization\` is forwarded, which \`GATEWAY_AUTH=project_keys\` does not allow |
| \`projects\` | projects that may call it; others get 403 \`upstream_not_allowed\` |
| \`provider\` | in records; by the host name of \`url\` without it |
| \`websockets\` | \`true\` or \`false\`, instead of what is known of the provider |
| \`connections\`, \`max_waiting\` | instead of \`UPSTREAM_CONNECTIONS\` and \`UPSTREAM_MAX_WAITING\`, for all workers together |
| \`connect_timeout_ms\`, \`first_byte_timeout_ms\`, \`idle_timeout_ms\` | instead of \`UPSTREAM_*_TIMEOUT_MS\` |
| \`breaker\` | after so many failures in a row without an answer, calls get 503 \`upstream_open\` for \`open_ms\`; then one call tries. Off without it. \`sluice_gateway_upstream_open\` shows it |

- **The file is checked at the start**: a fault names its field, and the gateway does not start.
- **Changes** to the file or to a secret's file take effect within five seconds. Upstreams that stay the same
  keep their connections; calls under way end where they began. A file that cannot be used leaves the last
  valid one in use: \`sluice_gateway_upstreams_invalid\` is 1 and readiness says what is wrong. Changed ports
  need a restart.
- **The gateway does not** retry a call at another upstream, balance load between upstreams, or cache answers:
  each would change what an application sees. Name several addresses of one model in DNS or a load balancer.

## The key in the query

With \`PROXY_KEY_IN_QUERY=true\` the proxy key may be \`?key=\`, for upstreams with credentials of the gateway;
for others such a request gets 401. The gateway removes \`key\` and leaves the rest of the query as it came:
the only change that it makes to a query. It does so before anything is logged, spooled, recorded or traced.
Two different keys in one request, in headers or query, get 401.

## Credentials of Google and AWS

\`\`\`yaml
upstreams:
  - name: vertex
    url: https://europe-west1-aiplatform.googleapis.com
    path_prefix: /vertex
    credentials: { google: { service_account: { file: /run/secrets/google.json } } }
  - name: bedrock
    url: https://bedrock-runtime.eu-west-1.amazonaws.com
    path_prefix: /bedrock
    credentials: { aws: { region: eu-west-1, identity: workload } }
\`\`\`

| credentials | the gateway sends |
| --- | --- |
| \`google: { service_account }\` | tokens for that account's JSON file; \`scope\` narrows \`cloud-platform\` |
| \`google: { identity: workload }\` | tokens of the metadata server (workload identity; \`GCE_METADATA_HOST\`) |
| \`aws: { region, access_key_id, secret_access_key }\` | a signature (SigV4) of each request, by these keys; also \`session_token\` |
| \`aws: { region, identity: workload }\` | the same by the role's temporary keys |

- **A role's keys** are found by the variables of AWS's own clients, in their order: web identity
  (\`AWS_ROLE_ARN\`, \`AWS_WEB_IDENTITY_TOKEN_FILE\`), the container
  (\`AWS_CONTAINER_CREDENTIALS_FULL_URI\` or \`_RELATIVE_URI\`), the instance (version 2 of its metadata
  service). \`AWS_ENDPOINT_URL_STS\` names another STS. \`service\` is \`bedrock\` unless set.
- **Tokens and keys** are kept in memory and renewed before they expire. Where the provider calls them
  expired, the gateway renews them and sends the call once more, if its body is still in memory.
- **AWS signs bodies**: the gateway reads a body of up to 32 MiB before it forwards it; a longer one gets 413.
  These bodies share a budget of \`CAPTURE_TOTAL_MAX_BYTES\`; beyond it calls get 503 \`no_memory\`.
- **Headers**: \`Authorization\`, \`x-amz-date\`, \`x-amz-security-token\` and \`x-amz-content-sha256\` of the
  application are replaced. Its other \`x-amz-*\` headers are signed. A client that signs by itself passes the
  proxy key as \`X-Service-Key\`; one with a Bedrock API key uses the proxy key in its place.

## An egress proxy

\`UPSTREAM_PROXY_URL=http://user:password@proxy.example:3128\` (or \`https://\`), the same for gateway, scorer and
notifier. Upstreams, identity providers, the judge, webhooks and HTTP destinations are then reached by
\`CONNECT\`, plain HTTP too; TLS ends at the target, so the proxy sees names or addresses and no content. Kafka,
Postgres, the API, metadata services, loopback, mail and syslog servers are reached directly, and so is what
\`NO_PROXY\` names.

- **A proxy that fails**: the application gets 502 \`egress_proxy_failed\` with a sentence that names the proxy
  and its answer. The breaker counts it as a call without an answer.
- **Webhooks and HTTP destinations**: the notifier resolves and checks the name, and \`CONNECT\` goes to the
  checked address, with the name in TLS (SNI) and \`Host\`. Where only the proxy can resolve names,
  \`WEBHOOK_PROXY_RESOLVES=true\` (API and notifier) leaves that to it: then its policy, not ours, keeps
  webhooks from internal addresses.
`

test('docs/gateway.md is made from the code', () => {
  expectPage('gateway.md', page)
})
