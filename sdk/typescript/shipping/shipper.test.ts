import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createByteBudget, type ByteBudget } from '../capturing/byte-budget.ts'
import { until } from '../../../tests/support/until.ts'
import { startRecordReceiver, type RecordReceiver } from '../../../tests/support/record-receiver.ts'
import { createPoster } from './post-json.ts'
import { createShipper, type Shipper } from './shipper.ts'

let receiver: RecordReceiver
let shipper: Shipper
let warnings: string[]
let budget: ByteBudget

beforeEach(async () => {
  receiver = await startRecordReceiver()
  start(100_000)
})
afterEach(async () => {
  await shipper.close(0)
  await receiver.stop()
})

function start(maxBytes: number, url = receiver.url) {
  warnings = []
  budget = createByteBudget(maxBytes)
  shipper = createShipper({
    poster: createPoster(url, { 'x-service-key': 'svc_test' }),
    budget,
    warn: (topic) => warnings.push(topic),
  })
}

function add(count: number, from = 0) {
  for (let index = from; index < from + count; index++) shipper.add(json(index))
}
const json = (index: number) => JSON.stringify({ id: `r${index}`, request_body: { text: 'x'.repeat(100) } })
const ids = () => receiver.taken.map(({ id }) => id)
const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `r${from + index}`)

test('records travel together, in order, with the key', async () => {
  add(300)
  expect(await shipper.flush(30_000)).toBe(true)
  expect(ids()).toEqual(numbered(300))
  expect(receiver.paths).toEqual(['/internal/log/batch'])
  expect([...receiver.keys]).toEqual(['svc_test'])
  expect(shipper.stats()).toMatchObject({ sent: 300, waiting: 0, heldBytes: 0 })
})

test('one alone goes as it is to the route that every API has', async () => {
  add(1)
  expect(await shipper.flush(30_000)).toBe(true)
  expect([receiver.paths, receiver.texts]).toEqual([['/internal/log'], [json(0)]])
  expect(shipper.stats()).toMatchObject({ sent: 1, waiting: 0, heldBytes: 0 })
})

test('while the API is away records wait under their ids; a repeat stores nothing twice', async () => {
  receiver.refuseAll(503)
  add(3)
  expect(await shipper.flush(700)).toBe(false)
  expect(shipper.stats()).toMatchObject({ sent: 0, waiting: 3 })
  receiver.refuseAll(undefined)
  expect(await shipper.flush(30_000)).toBe(true)
  expect(ids()).toEqual(numbered(3))
})

test('a queue that is full drops the oldest, counted and said', async () => {
  receiver.refuseAll(503)
  start(1_000)
  add(20)
  const { waiting, dropped, heldBytes } = shipper.stats()
  expect(heldBytes).toBeLessThanOrEqual(1_000)
  expect(waiting + dropped.queue_full).toBe(20)
  expect(warnings).toContain('drop queue_full')
  receiver.refuseAll(undefined)
  expect(await shipper.flush(30_000)).toBe(true)
  expect(ids().at(-1)).toBe('r19')
  expect(ids()).toHaveLength(waiting)
})

test('a record larger than the queue is dropped and leaves the others', async () => {
  start(1_000)
  add(2)
  shipper.add(JSON.stringify({ id: 'big', request_body: { text: 'x'.repeat(2_000) } }))
  add(2, 2)
  expect(await shipper.flush(30_000)).toBe(true)
  expect(ids()).toEqual(numbered(4))
  expect(shipper.stats().dropped.queue_full).toBe(1)
})

test('a body under way takes the room of the oldest records, as far as that suffices', async () => {
  start(1_000)
  add(6)
  expect(budget.acquire(500)).toBe(true)
  expect(shipper.stats()).toMatchObject({ waiting: 3, dropped: { queue_full: 3 } })
  expect(budget.acquire(600)).toBe(false)
  expect(shipper.stats()).toMatchObject({ waiting: 3 })
  budget.release(500)
  expect(await shipper.flush(30_000)).toBe(true)
  expect(ids()).toEqual(numbered(3, 3))
  expect(budget.used()).toBe(0)
})

test('of a batch, what is refused is dropped, what failed is sent again, the rest is stored', async () => {
  let tries = 0
  receiver.decide(({ id }) => {
    if (id === 'r1') return 422
    if (id === 'r2') return 429
    return id === 'r3' && tries++ === 0 ? 503 : 202
  })
  add(5)
  expect(await shipper.flush(30_000)).toBe(true)
  expect(ids().sort()).toEqual(['r0', 'r3', 'r4'])
  expect(shipper.stats()).toMatchObject({ sent: 3, dropped: { refused: 1, over_quota: 1 } })
  expect(warnings).toEqual(expect.arrayContaining(['drop refused', 'drop over_quota']))
})

test('over the quota, the batch is dropped: a resend would be refused too', async () => {
  receiver.refuseAll(429, undefined, 'INGEST_QUOTA_EXCEEDED')
  add(3)
  expect(await shipper.flush(30_000)).toBe(true)
  expect(shipper.stats().dropped.over_quota).toBe(3)
})

test('a 429 of something between here and the API drops nothing', async () => {
  receiver.refuseAll(429)
  add(3)
  const flushed = shipper.flush(30_000)
  await until(() => receiver.paths.length > 0)
  receiver.refuseAll(undefined)
  expect(await flushed).toBe(true)
  expect(shipper.stats()).toMatchObject({ sent: 3, dropped: { over_quota: 0 } })
})

test('a pause that the API asks for is cut by flush once, not each time', async () => {
  receiver.refuseAll(503, 300)
  add(1)
  while (receiver.paths.length < 2) expect(await shipper.flush(600)).toBe(false)
  expect(await shipper.flush(600)).toBe(false)
  expect(receiver.paths).toHaveLength(2)
})

test('a wrong key is warned of; records wait', async () => {
  receiver.refuseAll(401)
  add(1)
  while (warnings.length === 0) expect(await shipper.flush(300)).toBe(false)
  expect(warnings).toEqual(['stop'])
  expect(shipper.stats().waiting).toBe(1)
})

test('a batch that is too large is halved until it fits', async () => {
  receiver.refuseAll(413)
  add(4)
  expect(await shipper.flush(30_000)).toBe(true)
  // Batches of 4, 2, 2, then four of 1: seven posts, and none fits.
  expect(receiver.paths).toHaveLength(7)
  expect(shipper.stats()).toMatchObject({ heldBytes: 0, dropped: { refused: 4 } })
})

test('an API that cannot be reached', async () => {
  start(100_000, 'http://127.0.0.1:9')
  add(1)
  expect(await shipper.flush(300)).toBe(false)
  await shipper.close(100)
  expect(shipper.stats().dropped.shut_down).toBe(1)
  add(1)
  expect(shipper.stats().dropped.shut_down).toBe(2)
})
