import { expect, test } from '@jest/globals'
import { createByteBudget } from '../capturing/byte-budget.ts'
import { createRecordQueue } from './record-queue.ts'
import { createSendBatch } from './send-batch.ts'

const minuteMs = 60_000

test.each([
  [503, 5 * minuteMs, 5 * minuteMs],
  [503, 60 * minuteMs, 10 * minuteMs],
  [429, 5 * minuteMs, 5 * minuteMs],
  [429, 60 * minuteMs, 10 * minuteMs],
])('%i, with a Retry-After of %i ms: a pause of %i ms', async (status, retryAfterMs, forMs) => {
  const text = status === 429 ? '{"code":"INGEST_QUOTA_EXCEEDED"}' : '{}'
  const send = createSendBatch({
    poster: { post: () => Promise.resolve({ status, retryAfterMs, text }), close: () => undefined },
    queue: createRecordQueue(createByteBudget(1_000), () => undefined),
    warn: () => undefined,
    drop: () => undefined,
    sent: () => undefined,
  })
  expect(await send([Buffer.from('{}')])).toEqual({ forMs, isAsked: true })
})
