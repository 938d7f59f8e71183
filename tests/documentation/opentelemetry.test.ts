import { test } from '@jest/globals'
import {
  finishReasons,
  firstTokenEvent,
  firstTokenMilliseconds,
  firstTokenSeconds,
  parameterLists,
  spanFields,
  spanParameters,
  spanTokens,
} from '#capture/otel/span-fields.ts'
import {
  answerAttributes,
  answerPrefixes,
  promptAttributes,
  promptPrefixes,
  wholeEvent,
} from '#capture/otel/span-messages.ts'
import { describeDoors } from '../e2e/doors/describe-doors.ts'
import { expectPage, tableOf } from '../support/documented-page.ts'

const code = (text: string) => `\`${text}\``
const listed = (names: readonly string[]) => names.map(code).join(', ')
const indexed = (prefixes: readonly string[]) => prefixes.map((prefix) => `${prefix}N.…`)

const rows = [
  ...Object.entries(spanFields).map(([field, names]) => [code(field), listed(names)]),
  ...Object.entries(spanTokens).map(([part, names]) => [`tokens: ${part}`, listed(names)]),
  [
    code('time_to_first_token_ms'),
    `${listed(firstTokenMilliseconds)}; in seconds ${listed(firstTokenSeconds)}; ${code('langfuse.observation.completion_start_time')}; event ${code(firstTokenEvent)}`,
  ],
  ...Object.entries(spanParameters).map(([name, names]) => [
    code(`request_body.${name}`),
    `${listed(names)}, in ${parameterLists.map(code).join(' or ')}`,
  ]),
  [
    code('request_body.messages'),
    `events ${code('gen_ai.*.message')}; ${listed([...indexed(promptPrefixes), ...promptAttributes])}`,
  ],
  [
    code('response_body.choices'),
    `events ${code('gen_ai.choice')}; ${listed([...indexed(answerPrefixes), 'ai.response.text', ...answerAttributes])}`,
  ],
  [
    code('response_body.choices[].finish_reason'),
    listed(['gen_ai.response.finish_reasons', ...finishReasons]),
  ],
]

const page = `# OpenTelemetry

Generated from the code by \`UPDATE_DOCS=1\`. Applications that are traced need no SDK of Sluice: point their
exporter at ingest. Sluice's own traces are in [operations](operations.md#sluices-own-traces).

\`\`\`sh
export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://sluice.internal:8000/v1/traces
export OTEL_EXPORTER_OTLP_TRACES_HEADERS=x-service-key=svc_…
# Where messages are log records:
export OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=http://sluice.internal:8000/v1/logs
export OTEL_EXPORTER_OTLP_LOGS_HEADERS=x-service-key=svc_…
\`\`\`

- OTLP over HTTP, protobuf or JSON, plain, gzip, deflate, br or zstd, at most 32 MiB a request.
- The key is \`X-Service-Key\`, \`Authorization: Bearer\`, or the password of Basic with any name.
  \`/api/public/otel/v1/traces\` and \`…/logs\` are the same routes, for exporters set up for Langfuse.
- Spans of models and of tools become records with \`source\` \`otel\`. Agents, chains, retrievals and
  everything else are dropped and counted (\`sluice_ingest_spans_total\`).
- Results of evaluations (\`gen_ai.evaluation.*\` on spans or events, spans of evaluators) are dropped and
  counted as \`evaluation\`. The judge's own calls are recorded like others.
- Of two spans of one model call in one request, the outer one is recorded. The inner one is its child, or has
  the same \`gen_ai.response.id\` and times within. Anthropic's client has spans of its own: with another
  instrumentation, set \`ANTHROPIC_OPEN_TELEMETRY=false\`, as a request may divide the two.
- Of a stream, Logfire's log at its end is recorded. The span that it ends where the stream begins is dropped.
- A record's identifier comes from project, trace and span: a span that is sent again is the same record.
- Spans outside ingest's window (seven days) and spans that cannot be read are refused by
  \`partialSuccess\`, with their number. Over the quota: 429. Unavailable: 503, send it again.
- Words that the instrumentation leaves out are *not read*, never safe. Most need a switch:
  \`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true\`; Anthropic's client
  \`ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content\`, which leaves out streamed answers. Traceloop,
  OpenInference, Logfire, Langfuse and Vercel's \`@ai-sdk/otel\` send them by default.
- Some instrumentations send messages as log records, such as opentelemetry-instrumentation-openai-v2:
  \`gen_ai.*.message\`, \`gen_ai.choice\`, \`${wholeEvent}\`. Such spans wait for
  their messages, and these for their span, sealed in Postgres, at most 30 s (\`SPAN_WAIT_MS\`). Then the call
  is recorded with what is there. What comes later is dropped and counted
  (\`sluice_ingest_log_records_total\`, \`sluice_ingest_waiting_calls_total\`). Spans with words and other
  conventions never wait.
- Beyond 20,000 calls or 32 MiB of a project spans do not wait, and words are refused. With zero content
  retention nothing waits: send words on spans. Other log records are dropped.
- A session is \`gen_ai.conversation.id\` or \`session.id\`, of the span or another span of its trace in the
  same request, else the trace. An agent's name is that of the nearest span around the call in the same
  request that has one, else \`service.name\`.
- Metadata has \`otel.trace_id\`, \`otel.span_id\`, \`otel.parent_span_id\`.
- Prompt tokens include cached ones in all conventions but Langfuse's, and answers their reasoning; records
  have them apart.

## A Collector

It needs \`SLUICE_URL\` (\`http://sluice.internal:8000\`) and the project's key. Before version 0.144 the
exporter is called \`otlphttp\`.

\`\`\`yaml
receivers:
  otlp:
    protocols:
      grpc: { endpoint: 0.0.0.0:4317 }
      http: { endpoint: 0.0.0.0:4318 }
processors:
  batch: { send_batch_size: 512, send_batch_max_size: 1024, timeout: 2s }
exporters:
  otlp_http/sluice:
    traces_endpoint: \${env:SLUICE_URL}/v1/traces
    logs_endpoint: \${env:SLUICE_URL}/v1/logs
    headers: { x-service-key: '\${env:SLUICE_KEY}' }
    compression: zstd
    retry_on_failure: { enabled: true, max_elapsed_time: 0 }
service:
  pipelines:
    traces: { receivers: [otlp], processors: [batch], exporters: [otlp_http/sluice] }
    logs: { receivers: [otlp], processors: [batch], exporters: [otlp_http/sluice] }
\`\`\`

Ingest itself takes no gRPC. Every exporter of OpenTelemetry has OTLP over HTTP, and a Collector turns one
into the other. A server with \`@grpc/grpc-js\` would be a second listener on HTTP/2, with limits, TLS, keys,
shutdown and metrics of its own beside those of the HTTP routes.

## What each way in carries

\`scripts/test --platform doors\` has the same twelve conversations through each and compares the records with
those of the gateway. \`yes\` is the same; a number says what differs. Failing calls are failed records in all.

${describeDoors()}

## Attributes

The first attribute that a span has decides.

${tableOf(['field of the record', 'attributes'], rows)}
`

test('docs/opentelemetry.md is made from the attributes that are read', () => {
  expectPage('opentelemetry.md', page)
})
