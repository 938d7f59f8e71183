import { createServer, type IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { decodeOtlp } from '#services/ingest/otlp/decode-otlp.ts'
import { startLocalServer } from './local-server.ts'

/** A span as it was exported. */
export interface ReceivedSpan {
  service: string
  name: string
  traceId: string
  spanId: string
  /** Empty: the root of its trace. */
  parentSpanId: string
  attributes: Readonly<Record<string, unknown>>
}

/** An OTLP/HTTP receiver of traces, which is outside the system. */
export interface TraceReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string
  spans: readonly ReceivedSpan[]
  /** Headers of each export. */
  headers: readonly IncomingMessage['headers'][]
  /** The status that exports get from now on. */
  answerWith(status: number): void
  stop(): Promise<void>
}

interface Exported {
  resourceSpans?: {
    resource?: { attributes?: KeyValue[] }
    scopeSpans?: { spans?: OtlpSpan[] }[]
  }[]
}
type KeyValue = { key: string; value?: Record<string, unknown> }
type OtlpSpan = Pick<ReceivedSpan, 'name' | 'traceId' | 'spanId'> & {
  parentSpanId?: string
  attributes?: KeyValue[]
}

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = []
  const headers: IncomingMessage['headers'][] = []
  let status = 200
  const receive = async (request: IncomingMessage) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    headers.push(request.headers)
    if (status !== 200 || request.url !== '/v1/traces') return
    const isZipped = request.headers['content-encoding'] === 'gzip'
    spans.push(...spansOf(decodeOtlp('ExportTraceServiceRequest', isZipped ? gunzipSync(body) : body)))
  }
  const server = createServer((request, response) => {
    void receive(request).then(() => {
      response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  return {
    ...(await startLocalServer(server)),
    spans,
    headers,
    answerWith(next) {
      status = next
    },
  }
}

function spansOf({ resourceSpans = [] }: Exported): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) => {
    const service = String(valuesOf(resource?.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans = [] }) =>
      spans.map(({ name, traceId, spanId, parentSpanId = '', attributes }) => ({
        ...{ service, name, traceId, spanId, parentSpanId },
        attributes: valuesOf(attributes),
      })),
    )
  })
}

function valuesOf(attributes: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value = {} }) => [key, Object.values(value)[0]]))
}
