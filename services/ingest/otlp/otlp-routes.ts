import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { z } from 'zod'
import { parseJson } from '#http/parse-json.ts'
import { invalidInput } from '#http/problem.ts'
import { rawRoute, type Reply, type Route } from '#http/route.ts'
import type { OtlpRequest } from './decode-otlp.ts'
import type { OtlpOptions, Take } from './otlp-export.ts'
import { createTakeLogs } from './take-logs.ts'
import { createTakeSpans } from './take-spans.ts'

const maxBytes = 32 * 1024 * 1024
const protobuf = 'application/x-protobuf'
/** The spans or log records, and what is made of them, are held besides the body. */
const heldTimes = 2

interface Signal {
  request: OtlpRequest
  /** Exporters for others need only another address. */
  paths: readonly string[]
  summary: string
  body: z.ZodType
  /** The count of `partialSuccess`. */
  rejected: 'rejectedSpans' | 'rejectedLogRecords'
  tooMany: string
  take: Take
}

/**
 * `POST /v1/traces` and `/v1/logs` (OTLP/HTTP 1.x): spans of models and tools become records, and log records
 * with the words of such a span are joined with it. Others are dropped.
 */
export function otlpRoutes(options: OtlpOptions): Route[] {
  const signals: Signal[] = [
    {
      request: 'ExportTraceServiceRequest',
      paths: ['/v1/traces', '/api/public/otel/v1/traces'],
      summary:
        'Log the spans of models and tools of an OTLP export request, protobuf or JSON. The key is also taken as the password of Basic.',
      body: z.looseObject({ resourceSpans: z.array(z.looseObject({})) }),
      rejected: 'rejectedSpans',
      tooMany: "The project has used its tier's requests; Retry-After says when the period resets.",
      take: createTakeSpans(options),
    },
    {
      request: 'ExportLogsServiceRequest',
      paths: ['/v1/logs', '/api/public/otel/v1/logs'],
      summary:
        'Join the log records of an OTLP export request that hold words of a model call with its span, protobuf or JSON. Others are dropped.',
      body: z.looseObject({ resourceLogs: z.array(z.looseObject({})) }),
      rejected: 'rejectedLogRecords',
      tooMany: 'As many words of the project as may wait for their spans do; Retry-After says how long.',
      take: createTakeLogs(options),
    },
  ]
  return signals.flatMap((signal) => signal.paths.map((path) => otlpRoute(path, signal)))
}

function otlpRoute(path: string, { request, take, rejected, ...signal }: Signal): Route {
  return rawRoute({
    method: 'post',
    path,
    access: 'ingest',
    tag: 'Logging',
    summary: signal.summary,
    body: signal.body.describe(`An ${request} of OTLP.`),
    maxBodyBytes: maxBytes,
    reply: {
      status: 200,
      description: `Taken, but for \`${rejected}\` of \`partialSuccess\`. In the form of the request.`,
      contentTypes: ['application/json', protobuf],
    },
    problems: {
      400: 'Neither protobuf nor JSON.',
      408: 'The body did not come within a minute.',
      413: 'The request is larger than 32 MiB, or takes more memory than one sender is given: send less at once.',
      429: signal.tooMany,
      503: 'Not kept, or not known to be: send it again after Retry-After. What was kept is not stored twice.',
    },
    async handle({ principal, body, headers, reserveBodyBudget }) {
      if (principal.kind !== 'key') throw needsKey()
      const isProtobuf = isProtobufType(headers['content-type'])
      reserveBodyBudget(heldTimes * body.length)
      // Loaded with the first request: most processes never see one in protobuf.
      const given = isProtobuf
        ? (await import('./decode-otlp.ts')).decodeOtlp(request, body)
        : parseJson(body)
      return answer(await take({ request: given, principal, reserveBodyBudget }), rejected, isProtobuf)
    },
  })
}

/** A trace names no project: only a key does. */
function needsKey() {
  return invalidInput([
    { path: '', message: "OpenTelemetry is taken with a project's key, not as the operator" },
  ])
}

/** Anything else is taken for JSON, as by every route. */
function isProtobufType(contentType = ''): boolean {
  const [type = ''] = contentType.toLowerCase().split(';')
  return [protobuf, 'application/protobuf'].includes(type.trim())
}

function answer(faults: readonly string[], rejected: Signal['rejected'], isProtobuf: boolean): Reply {
  const text = [...new Set(faults)].slice(0, 5).join('; ')
  if (!isProtobuf) {
    const partialSuccess = { [rejected]: String(faults.length), errorMessage: text }
    return { status: 200, json: faults.length === 0 ? {} : { partialSuccess } }
  }
  const writer = new BinaryWriter()
  if (faults.length > 0)
    // partial_success = 1 { rejected = 1, error_message = 2 }, of both signals.
    writer.uint32(10).fork().uint32(8).int64(faults.length).uint32(18).string(text).join()
  return { status: 200, bytes: { contentType: protobuf, data: Buffer.from(writer.finish()) } }
}
