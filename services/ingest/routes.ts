import { z } from 'zod'
import { recordSchema } from '#capture/record/record-schema.ts'
import { maxRecords, splitBatch } from './record/split-batch.ts'
import { Problem } from '#http/problem.ts'
import { rawRoute, type Reply, type Route } from '#http/route.ts'
import type { Metrics } from '#runtime/metrics.ts'
import type { LogCalls, LogResult } from './log-calls.ts'
import { otlpRoutes } from './otlp/otlp-routes.ts'
import type { WaitingCallStore } from './stores/waiting-call-store.ts'

const maxBatchBytes = 32 * 1024 * 1024

/**
 * Memory of a record besides its bytes until Kafka has it: 4.9 kB for `{"request_body":{}}`, 6.2 kB with all
 * fields. A thousand of them fit in 120 bytes of gzip.
 */
export const recordBytes = 6_144

const queuedSchema = z.object({
  id: z.string().describe('The identifier of the request record.'),
  status: z
    .enum(['queued', 'left_out'])
    .describe('`left_out`: the key has nothing recorded (`capture: none`); the call is only counted.'),
})

const failedSchema = z.object({
  status_code: z.number().int(),
  detail: z.string(),
  code: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  retry_id: z
    .string()
    .optional()
    .describe('With 503: the id to send the record again with; another id may store it twice.'),
})

/** `POST /internal/log`, `/internal/log/batch` and OTLP's `/v1/traces` and `/v1/logs`. */
export function ingestRoutes(options: {
  logCalls: LogCalls
  waitingCalls: WaitingCallStore
  maxRecordBytes: number
  metrics: Metrics
}): Route[] {
  return [logRoute(options), batchRoute(options), ...otlpRoutes({ ...options, recordBytes })]
}

function logRoute({ logCalls, maxRecordBytes }: { logCalls: LogCalls; maxRecordBytes: number }): Route {
  return rawRoute({
    method: 'post',
    path: '/internal/log',
    access: 'ingest',
    tag: 'Logging',
    summary: 'Log one model or tool call. The answer follows when every in-sync replica has the record.',
    body: recordSchema,
    maxBodyBytes: maxRecordBytes,
    traced: true,
    reply: {
      status: 202,
      description: 'Accepted, and queued for storing and scoring.',
      schema: queuedSchema,
    },
    problems: {
      400: 'Not JSON, or not UTF-8.',
      408: 'The body did not come within a minute.',
      413: 'The record is larger than BODY_MAX_BYTES.',
      429: "The project has used its tier's requests; Retry-After says when the period resets.",
      503: 'Not kept, or not known to be: send it again after Retry-After, with `retry_id` as its id where the answer has one.',
    },
    async handle({ principal, body, span, reserveBodyBudget }) {
      reserveBodyBudget(recordBytes)
      const [result] = await logCalls(principal, [body], { span })
      if (result === undefined || result instanceof Problem)
        throw result ?? new Error('no result for the record')
      return { status: 202, json: resultOf(result) }
    },
  })
}

function batchRoute({ logCalls }: { logCalls: LogCalls }): Route {
  return rawRoute({
    method: 'post',
    path: '/internal/log/batch',
    access: 'ingest',
    tag: 'Logging',
    summary:
      'Log up to 1,000 calls. Each has its own result, in order: one bad record does not fail its neighbours.',
    body: z.object({ records: z.array(recordSchema).min(1).max(maxRecords) }),
    maxBodyBytes: maxBatchBytes,
    traced: true,
    reply: {
      status: 200,
      description: 'One result per record.',
      schema: z.object({ results: z.array(z.union([queuedSchema, failedSchema])) }),
    },
    problems: {
      400: 'Not JSON, or not UTF-8.',
      408: 'The body did not come within a minute.',
      413: 'The batch is larger than 32 MiB, or takes more memory than one sender is given: send fewer records at once.',
      429: "All records are over the tier's limit.",
      503: 'No record can be kept: send them again after Retry-After, each with its id in `retry_ids` where the answer has them.',
    },
    async handle({ principal, body, span, reserveBodyBudget, reserveAnswerBudget }) {
      const records = splitBatch(body)
      reserveBodyBudget(records.length * recordBytes)
      span?.set({ 'sluice.records': records.length })
      const results = await logCalls(principal, records, {
        span,
        beforeAny: (refused) =>
          reserveAnswerBudget(refused.reduce((bytes, problem) => bytes + bytesOf(problem), 0)),
      })
      return replyOf(results)
    },
  })
}

/** The result of a record without a fault: 58 bytes when it is queued, 199 over the quota. */
const openBytes = 256

function bytesOf(refused: Problem | null): number {
  return refused === null ? openBytes : Buffer.byteLength(JSON.stringify(resultOf(refused))) + 1
}

/**
 * If the same fault stops every record (quota, Kafka away), the whole batch is refused, so that clients back
 * off.
 */
function replyOf(results: readonly LogResult[]): Reply {
  const [first] = results
  if (
    first instanceof Problem &&
    (first.status === 429 || first.status === 503) &&
    results.every((result) => result instanceof Problem && result.status === first.status)
  ) {
    const retryIds = results.map((result) =>
      result instanceof Problem ? (result.more['retry_id'] ?? null) : null,
    )
    throw retryIds.some((id) => id !== null) ? first.withFields({ retry_ids: retryIds }) : first
  }
  return { status: 200, json: { results: results.map(resultOf) } }
}

function resultOf(result: LogResult): object {
  return result instanceof Problem
    ? { status_code: result.status, ...result.body() }
    : { id: result.id, status: result.isLeftOut === undefined ? 'queued' : 'left_out' }
}
