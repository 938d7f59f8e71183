import { describe, expect, test } from '@jest/globals'
import { createByteBudget } from '../capturing/byte-budget.ts'
import type { PostAnswer } from './post-json.ts'
import { createPostRecords } from './post-records.ts'
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
  const poster = { post: () => Promise.resolve({ status, retryAfterMs, text }), close: () => undefined }
  const send = createSendBatch({
    post: createPostRecords(poster, () => 0).post,
    queue: createRecordQueue(createByteBudget(1_000), () => undefined),
    warn: () => undefined,
    drop: () => undefined,
    sent: () => undefined,
  })
  expect(await send([Buffer.from('{}')])).toEqual({ forMs, isAsked: true })
})

type Posted = { id: string; text: string }[]
const answered = (status: number, text: string): PostAnswer => ({ status, retryAfterMs: undefined, text })
const taken = (records: Posted, statusOf: (text: string) => number = () => 202) =>
  answered(
    200,
    JSON.stringify({
      results: records.map(({ text }) =>
        statusOf(text) === 202 ? { status: 'queued' } : { status_code: statusOf(text) },
      ),
    }),
  )
const hasBad = (records: Posted) => records.some(({ text }) => text === 'bad')
const page = '<html>Request blocked</html>'

/** Sends records with these texts in `rounds` batches, and answers as given. */
async function sendAll(
  texts: string[],
  answer: (records: Posted, turn: number, path: string) => PostAnswer,
  rounds = 20,
) {
  const dropped: string[] = []
  const stored = new Set<string>()
  let posts = 0
  let sentCount = 0
  const queue = createRecordQueue(createByteBudget(1_000_000), () => undefined)
  const post = (path: string, body: Buffer) => {
    const isAlone = path === '/internal/log'
    const sent = JSON.parse(body.toString()) as { records: Posted } & Posted[number]
    const records = isAlone ? [sent] : sent.records
    const given = answer(records, posts++, path)
    const { results = [] } = (given.status === 200 ? JSON.parse(given.text) : {}) as {
      results?: { status_code?: number }[]
    }
    for (const [index, { id }] of records.entries()) if ('status' in (results[index] ?? {})) stored.add(id)
    const [alone] = isAlone ? results : []
    return Promise.resolve(alone ? answered(alone.status_code ?? 202, '{"detail":"no"}') : given)
  }
  let nowMs = 0
  const postRecords = createPostRecords({ post, close: () => undefined }, () => nowMs)
  const send = createSendBatch({
    post: postRecords.post,
    queue,
    warn: () => undefined,
    drop: (reason, count) => dropped.push(...Array.from({ length: count }, () => reason)),
    sent: (count) => (sentCount += count),
  })
  let added = 0
  const add = (text: string) => queue.add(JSON.stringify({ id: `r${added++}`, text }))
  for (const text of texts) add(text)
  let pauseMs = 0
  for (let round = 0; round < rounds && queue.length() > 0; round++) {
    // The program continues to record.
    if (round > 0) add('good')
    pauseMs = (await send(queue.take(postRecords.batchLimit(500), 1_000_000))).forMs
    nowMs += 1_000
  }
  const waiting = queue
    .take(500, 1_000_000)
    .map((record) => (JSON.parse(record.toString()) as { id: string }).id)
  return { stored, sentCount, dropped, waiting, posts, pauseMs, added }
}

describe('a batch that is refused as a whole', () => {
  const texts = Array.from({ length: 300 }, (_, index) => ([0, 7, 299].includes(index) ? 'bad' : 'good'))
  const ids = texts.map((_, index) => `r${index}`)

  test.each([400, 403, 406, 422, 500, 'ECONNRESET', 'EPIPE'])(
    '%s for what three records hold: they are given up, all others are taken',
    async (fault) => {
      const refuse = () => {
        if (typeof fault === 'string') throw Object.assign(new Error('broken off'), { code: fault })
        return answered(fault, page)
      }
      const all = await sendAll(texts, (records) => (hasBad(records) ? refuse() : taken(records)), 40)
      expect(all.dropped).toEqual(['refused', 'refused', 'refused'])
      expect([all.stored.size, all.sentCount, all.waiting]).toEqual([all.added - 3, all.added - 3, []])
      expect(all.posts).toBeLessThan(150)
    },
  )

  test.each([400, 403, 422])('%i for all: nothing is dropped, in few posts', async (status) => {
    const all = await sendAll(texts, () => answered(status, page), 1)
    expect(all).toMatchObject({ dropped: [], waiting: ids, pauseMs: minuteMs })
    expect(all.posts).toBeLessThanOrEqual(9)
  })

  test.each([
    [401, page],
    [403, '{"detail":"the key may not log","code":"KEY_SCOPE"}'],
  ])('%i, which is of the key: one post', async (status, text) => {
    const all = await sendAll(texts, () => answered(status, text), 1)
    expect(all).toMatchObject({ dropped: [], waiting: ids, posts: 1, pauseMs: minuteMs })
  })

  test.each([2, 3, 5, 12])('from the post %i on: what was refused alone is not given up', async (last) => {
    const { stored, dropped, waiting, sentCount, added } = await sendAll(texts, (records, turn) =>
      turn >= last || hasBad(records) ? answered(403, page) : taken(records),
    )
    expect(dropped).toEqual([])
    expect(stored.size + waiting.length).toBe(added)
    expect(sentCount).toBe(stored.size)
  })

  test('a single one waits: nothing shows that it is at fault', async () => {
    const all = await sendAll(['bad'], () => answered(403, page), 1)
    expect(all).toMatchObject({ dropped: [], waiting: ['r0'] })
  })
})

test('a record that is answered 500 while others are taken does not wait for ever', async () => {
  const statusOf = (text: string) => (text === 'bad' ? 500 : 202)
  const all = await sendAll(['good', 'bad'], (records) => taken(records, statusOf))
  expect(all).toMatchObject({ dropped: ['refused'], waiting: [], posts: 10, sentCount: 10 })
  const alone = await sendAll(['bad'], (records) => taken(records, () => 500))
  expect(alone).toMatchObject({ dropped: [], sentCount: 0 })
})

describe('an API that has no batches', () => {
  const noBatches = (records: Posted, path: string) =>
    path === '/internal/log' ? taken(records) : answered(404, page)
  const texts = Array.from({ length: 40 }, () => 'good')

  test('is sent one by one, and batches once more after a minute', async () => {
    const paths: string[] = []
    const all = await sendAll(
      texts,
      (records, _turn, path) => {
        paths.push(path)
        return noBatches(records, path)
      },
      70,
    )
    expect(all.dropped).toEqual([])
    expect([all.sentCount, all.stored.size]).toEqual([68, 68])
    expect(paths.flatMap((path, turn) => (path === '/internal/log' ? [] : [turn]))).toEqual([0, 60])
  })

  test('404 for one alone too: the address is wrong, and all wait', async () => {
    const all = await sendAll(texts, () => answered(404, page), 2)
    expect(all).toMatchObject({ dropped: [], posts: 2, pauseMs: minuteMs })
    expect(all.waiting).toHaveLength(41)
  })

  test.each([400, 422])('%i with a detail is the word on the record', async (status) => {
    const all = await sendAll(['bad'], (records) => taken(records, () => status), 1)
    expect(all).toMatchObject({ dropped: ['refused'], waiting: [] })
  })

  test('a page with status 200 is no word that the record is stored', async () => {
    const all = await sendAll(['good'], () => answered(200, page), 1)
    expect(all).toMatchObject({ sentCount: 0, dropped: [], waiting: ['r0'] })
  })
})
