import type { HttpAnswer } from './send-http.ts'

/** How events share a request, and what its answer says of each. */
export interface BatchFormat {
  contentType: string
  join(bodies: readonly Buffer[]): Buffer
  /**
   * The answer for each event, or `unsent`: it was not looked at, because one before it was refused. Only
   * those are sent again at once.
   */
  split(answer: HttpAnswer, count: number): (HttpAnswer | 'unsent')[]
}

const nothing = Buffer.alloc(0)
/** Codes of the collector about one event: its format, its index, a missing or blank field. */
const faultsOfOne: ReadonlySet<unknown> = new Set([6, 7, 12, 13, 15])

/**
 * Splunk's collector takes events one after the other. `invalid-event-number` is where it stopped: it has
 * those before, and has not read those after.
 */
export const splunkBatch: BatchFormat = {
  contentType: 'application/json',
  join: (bodies) => Buffer.concat(bodies),
  split(answer, count) {
    const { code, 'invalid-event-number': stopped } = readJson(answer.body)
    const all = Array.from({ length: count }, (_, index) => index)
    const isKnown = typeof stopped === 'number' && stopped >= 0 && stopped < count
    if (isTaken(answer.status) || !isKnown) return all.map(() => answer)
    return all.map((index) => {
      if (index < stopped) return { ...answer, status: 200, body: nothing, retryAfterMs: null }
      return index > stopped && faultsOfOne.has(code) ? 'unsent' : answer
    })
  },
}

/** One answer for all. */
export const arrayBatch: BatchFormat = {
  contentType: 'application/json',
  join: (bodies) => Buffer.from(`[${bodies.join(',')}]`),
  split: (answer, count) => Array.from({ length: count }, () => answer),
}

const conflict = 409

/** Elasticsearch's bulk API, with a status for each event. 409: it has the event from an earlier attempt. */
export const bulkBatch: BatchFormat = {
  contentType: 'application/x-ndjson',
  join: (bodies) => Buffer.concat(bodies),
  split(answer, count) {
    const { items } = readJson(answer.body)
    const all = Array.from({ length: count }, (_, index) => index)
    if (!isTaken(answer.status)) return all.map(() => answer)
    return all.map((index) => {
      const { create } = (Array.isArray(items) ? (items[index] ?? {}) : {}) as {
        create?: { status?: unknown }
      }
      const status = typeof create?.status === 'number' ? create.status : 0
      if (status === 0) return { ...answer, status: null, error: 'the answer does not say what became of it' }
      return {
        ...answer,
        status: status === conflict ? 200 : status,
        body: Buffer.from(JSON.stringify(create)),
      }
    })
  },
}

/** A document for {@link bulkBatch}. The event's id keeps a repeated attempt from adding another. */
export function bulkLines(id: string, document: Buffer): Buffer {
  return Buffer.from(`${JSON.stringify({ create: { _id: id } })}\n${document.toString()}\n`)
}

function isTaken(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

function readJson(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
