import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { z } from 'zod'
import { evaluationEvents, isEvaluation } from '#capture/otel/evaluations.ts'
import { readSpans, type Span } from '#capture/otel/read-spans.ts'
import { recordOfSpan } from '#capture/otel/span-record.ts'
import { labelsOfCalls, spansOfCalls } from '#capture/otel/spans-of-calls.ts'
import type { Principal } from '#http/access/principal.ts'
import { parseJson } from '#http/parse-json.ts'
import { invalidInput, Problem } from '#http/problem.ts'
import { rawRoute, type Reply, type Route } from '#http/route.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { maxRecords } from '../record/split-batch.ts'
import type { LogCalls, LogResult } from '../log-calls.ts'

const maxBytes = 32 * 1024 * 1024
/** Exporters for others need only another address. */
const paths = ['/v1/traces', '/api/public/otel/v1/traces']
const protobuf = 'application/x-protobuf'
/** The spans and the records made of them are held besides the body. */
const heldTimes = 2

interface OtlpOptions {
  logCalls: LogCalls
  /** Memory of a record besides its bytes. */
  recordBytes: number
  metrics: Metrics
}

/** `POST /v1/traces` (OTLP/HTTP 1.x): spans of models and tools become records, others are dropped. */
export function otlpRoutes({ metrics, ...options }: OtlpOptions): Route[] {
  const spans = metrics.counter(
    'sluice_ingest_spans_total',
    'Spans by what became of them: `recorded`, `not_a_call` or `evaluation` (both dropped), `unreadable`, `late` or `refused`. Results of evaluations on events of spans count as `evaluation` too.',
    ['outcome'],
  )
  const count = (outcome: Outcome, times: number) => spans.inc({ outcome }, times)
  return paths.map((path) => tracesRoute(path, { ...options, count }))
}

type Outcome = 'recorded' | 'not_a_call' | 'evaluation' | 'unreadable' | 'late' | 'refused'
type Options = Omit<OtlpOptions, 'metrics'> & { count: (outcome: Outcome, times: number) => void }

function tracesRoute(path: string, options: Options): Route {
  return rawRoute({
    method: 'post',
    path,
    access: 'ingest',
    tag: 'Logging',
    summary:
      'Log the spans of models and tools of an OTLP export request, protobuf or JSON. The key is also taken as the password of Basic.',
    body: z
      .looseObject({ resourceSpans: z.array(z.looseObject({})) })
      .describe('An ExportTraceServiceRequest of OTLP.'),
    maxBodyBytes: maxBytes,
    reply: {
      status: 200,
      description: 'Taken, but for `rejectedSpans` of `partialSuccess`. In the form of the request.',
      contentTypes: ['application/json', protobuf],
    },
    problems: {
      400: 'Neither protobuf nor JSON.',
      408: 'The body did not come within a minute.',
      413: 'The request is larger than 32 MiB, or takes more memory than one sender is given: send fewer spans at once.',
      429: "The project has used its tier's requests; Retry-After says when the period resets.",
      503: 'Not kept, or not known to be: send it again after Retry-After. What was kept is not stored twice.',
    },
    async handle({ principal, body, headers, reserveBodyBudget }) {
      const projectId = projectOf(principal)
      const isProtobuf = isProtobufType(headers['content-type'])
      reserveBodyBudget(heldTimes * body.length)
      const { records, ...dropped } = await readRecords(body, isProtobuf, projectId)
      reserveBodyBudget(records.length * options.recordBytes)
      const results = await logInBatches(options.logCalls, principal, records)
      return answer(countResults(results, dropped, options), isProtobuf)
    },
  })
}

/** A trace names no project: only a key does. */
function projectOf(principal: Principal): string {
  if (principal.kind === 'key') return principal.key.project.projectId
  throw invalidInput([{ path: '', message: "traces are taken with a project's key, not as the operator" }])
}

/** Anything else is taken for JSON, as by every route. */
function isProtobufType(contentType = ''): boolean {
  const [type = ''] = contentType.toLowerCase().split(';')
  return [protobuf, 'application/protobuf'].includes(type.trim())
}

interface Dropped {
  unreadable: string[]
  /** Spans that are results of evaluations, and such events. */
  evaluations: { spans: number; events: number }
  /** Spans of neither a model nor a tool. */
  others: number
}

async function readRecords(
  body: Buffer,
  isProtobuf: boolean,
  projectId: string,
): Promise<Dropped & { records: Buffer[] }> {
  // Loaded with the first request: most processes never see one in protobuf.
  const request = isProtobuf ? (await import('./decode-traces.ts')).decodeTraces(body) : parseJson(body)
  const [spans, unreadable]: [Span[], string[]] = [[], []]
  for (const read of readSpans(request)) {
    if ('span' in read) spans.push(read.span)
    else unreadable.push(read.fault)
  }
  const labelsOf = labelsOfCalls(spans)
  const records = spansOfCalls(spans)
    .map((span) => recordOfSpan(span, projectId, labelsOf(span)))
    .filter((record) => record !== null)
    .map((record) => Buffer.from(JSON.stringify(record)))
  const evaluations = {
    spans: spans.filter(isEvaluation).length,
    events: spans.reduce((sum, span) => sum + evaluationEvents(span), 0),
  }
  return { records, unreadable, evaluations, others: spans.length - records.length - evaluations.spans }
}

/** A batch is what `/internal/log/batch` takes. Each is published before the next is read. */
async function logInBatches(
  logCalls: LogCalls,
  principal: Principal,
  records: Buffer[],
): Promise<LogResult[]> {
  const results: LogResult[] = []
  for (let at = 0; at < records.length; at += maxRecords)
    results.push(...(await logCalls(principal, records.slice(at, at + maxRecords))))
  return results
}

/** Throws what stops the whole request: an exporter sends all of it again, under the same identifiers. */
function countResults(
  results: readonly LogResult[],
  { unreadable, evaluations, others }: Dropped,
  { count }: Options,
): string[] {
  const refused = results.filter((result) => result instanceof Problem)
  const lasting = refused.find(({ status }) => status === 503)
  if (lasting !== undefined) throw lasting
  const late = refused.filter(isLate).length
  count('recorded', results.length - refused.length)
  count('not_a_call', others)
  count('evaluation', evaluations.spans + evaluations.events)
  count('unreadable', unreadable.length)
  count('late', late)
  count('refused', refused.length - late)
  const [first] = refused
  if (
    first !== undefined &&
    refused.length === results.length &&
    refused.every(({ status }) => status === 429)
  )
    throw first
  return [...unreadable, ...refused.map(({ message }) => message)]
}

/** Outside the time that identifiers may have. */
function isLate({ errors }: Problem): boolean {
  return errors?.some(({ path }) => path === 'id') === true
}

function answer(faults: readonly string[], isProtobuf: boolean): Reply {
  const text = [...new Set(faults)].slice(0, 5).join('; ')
  if (!isProtobuf) {
    const partialSuccess = { rejectedSpans: String(faults.length), errorMessage: text }
    return { status: 200, json: faults.length === 0 ? {} : { partialSuccess } }
  }
  const writer = new BinaryWriter()
  if (faults.length > 0)
    // partial_success = 1 { rejected_spans = 1, error_message = 2 }
    writer.uint32(10).fork().uint32(8).int64(faults.length).uint32(18).string(text).join()
  return { status: 200, bytes: { contentType: protobuf, data: Buffer.from(writer.finish()) } }
}
