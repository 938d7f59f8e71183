import type { Clock } from '#runtime/clock.ts'
import type { BatchFormat } from './batch-formats.ts'
import type { Rendered } from './rendered.ts'
import type { HttpAnswer } from './send-http.ts'

/** Of one request. `bytes`: a larger event goes alone. */
export const batchBounds = { items: 50, bytes: 524_288 } as const
/** How long an event waits for others. */
const batchMs = 25
/** Events that a receiver has not looked at are sent again within this time: their claims end after 15 s. */
const resendWithinMs = 2_000

interface Item {
  rendered: Rendered
  resolve(answer: HttpAnswer): void
  reject(error: unknown): void
}

interface Batch {
  items: Item[]
  bytes: number
  format: BatchFormat
  timer: NodeJS.Timeout
}

/** Sends an event with others of the same `key`: one destination, address and credentials. */
export type SendInBatch = (key: string, format: BatchFormat, rendered: Rendered) => Promise<HttpAnswer>

export function createSendInBatch(
  post: (rendered: Rendered) => Promise<HttpAnswer>,
  clock: Pick<Clock, 'now'>,
): SendInBatch {
  const batches = new Map<string, Batch>()
  const flush = (key: string): void => {
    const batch = batches.get(key)
    if (batch === undefined) return
    batches.delete(key)
    clearTimeout(batch.timer)
    // A defect fails the attempts; without an end they would hold their permits for ever.
    sendAll(batch.items, batch.format).catch((error: unknown) => {
      for (const item of batch.items) item.reject(error)
    })
  }
  const sendAll = async (all: readonly Item[], format: BatchFormat): Promise<void> => {
    const untilMs = clock.now() + resendWithinMs
    let left = all
    for (;;) {
      const [first] = left
      if (first === undefined) return
      const answer = await postJoined(left, first.rendered, format)
      const answers = format.split(answer, left.length)
      const isInTime = clock.now() < untilMs
      left = left.filter((item, index) => {
        const own = answers[index]
        if (own === 'unsent' && isInTime) return true
        item.resolve(own === 'unsent' || own === undefined ? notRead(answer) : own)
        return false
      })
    }
  }
  const postJoined = async (items: readonly Item[], { url, headers }: Rendered, format: BatchFormat) => {
    const body = format.join(items.map(({ rendered }) => rendered.body))
    return post({ url, headers: { ...headers, 'content-type': format.contentType }, body })
  }
  return (key, format, rendered) => {
    const { length } = rendered.body
    if ((batches.get(key)?.bytes ?? 0) + length > batchBounds.bytes) flush(key)
    return new Promise((resolve, reject) => {
      const batch = batches.get(key) ?? {
        ...{ items: [], bytes: 0, format },
        timer: setTimeout(() => flush(key), batchMs),
      }
      batches.set(key, batch)
      batch.items.push({ rendered, resolve, reject })
      batch.bytes += length
      if (batch.items.length >= batchBounds.items) flush(key)
    })
  }
}

function notRead(answer: HttpAnswer): HttpAnswer {
  return { ...answer, status: null, error: 'the receiver refused an event before it' }
}
