import { describe, expect, test } from '@jest/globals'
import type { Endpoint } from './wait-queue.ts'
import { EndpointLimiter, type LimiterOptions } from './endpoint-limiter.ts'

function limiterOf(
  options: Partial<LimiterOptions>,
  fast: readonly string[] = [],
  slow: readonly string[] = [],
) {
  const limiter = new EndpointLimiter({ perEndpoint: 2, total: 10, ...options })
  for (const webhookId of fast) limiter.note(webhookId, false)
  for (const webhookId of slow) limiter.note(webhookId, true)
  return limiter
}

/** Of a project of its own, unless another is named. */
const at = (webhookId: string, projectId = `of ${webhookId}`): Endpoint => ({
  webhook_id: webhookId,
  project_id: projectId,
})

/** Which of these get a place, asked in this order. */
function acquireAll(limiter: EndpointLimiter, webhookIds: string): boolean[] {
  return Array.from(webhookIds, (webhookId) => limiter.acquire(at(webhookId), 'topic') !== undefined)
}

/** What it brings at once; `waits` while that takes longer than the turn. */
const atOnce = <T>(promise: Promise<T>) =>
  Promise.race([promise, new Promise<string>((resolve) => setImmediate(() => resolve('waits')))])

const many = (count: number, projectId?: string) =>
  Array.from({ length: count }, (_, index) => at(`one ${index}`, projectId))

test('an endpoint has its places and no more; another has its own', () => {
  const limiter = limiterOf({}, ['a', 'b'])
  const release = limiter.acquire(at('a'), 'topic')
  expect(acquireAll(limiter, 'aab')).toEqual([true, false, true])
  expect(limiter.taken).toBe(3)
  release?.()
  release?.()
  expect(limiter.taken).toBe(2)
  expect(acquireAll(limiter, 'a')).toEqual([true])
  expect(limiter.permitsLeft().endpoints).toEqual([
    { webhookId: 'a', kind: 'quick', permits: 0 },
    { webhookId: 'b', kind: 'quick', permits: 1 },
  ])
})

test('one of which nothing is known has one place until an attempt ends', () => {
  const limiter = limiterOf({ total: 64 })
  expect(acquireAll(limiter, 'aa')).toEqual([true, false])
  limiter.note('a', false)
  expect(acquireAll(limiter, 'a')).toEqual([true])
})

test('there is an end to all of it', () => {
  expect(acquireAll(limiterOf({ total: 3 }, ['a', 'b']), 'aabb')).toEqual([true, true, true, false])
})

test('however many are slow, the others find places', () => {
  const limiter = limiterOf({ total: 6 }, ['d'], ['a', 'b', 'c'])
  expect(acquireAll(limiter, 'aabbcdd')).toEqual([true, true, true, false, false, true, true])
  limiter.note('c', false)
  expect(acquireAll(limiter, 'c')).toEqual([true])
})

test('one that turns slow takes its places with it', () => {
  const limiter = limiterOf({ total: 6 }, ['a', 'b'], ['c'])
  acquireAll(limiter, 'aabb')
  limiter.note('a', true)
  limiter.note('b', true)
  expect(acquireAll(limiter, 'c')).toEqual([false])
  limiter.note('a', false)
  expect(acquireAll(limiter, 'c')).toEqual([true])
})

test('what may be taken of what waits: by kind, and how much more that is than a project has', () => {
  const limiter = limiterOf({ total: 16 }, [], ['a'])
  acquireAll(limiter, 'aab')
  const { all, leads } = limiter.permitsLeft()
  expect(all).toEqual({ quick: 13, slow: 6, unknown: 3 })
  expect([...leads]).toEqual([
    ['of a', { quick: 11, slow: 4, unknown: 3 }],
    ['of b', { quick: 12, slow: 6, unknown: 2 }],
  ])
})

describe('one project leaves places to the others', () => {
  const total = 1_024
  const taken = (limiter: EndpointLimiter, endpoints: readonly Endpoint[]) =>
    endpoints.filter((endpoint) => limiter.acquire(endpoint, 'topic') !== undefined).length

  test('with 1,024 new endpoints that hang', () => {
    const limiter = limiterOf({ total }, ['well'])
    const hostile = many(total, 'hostile')
    expect(taken(limiter, hostile)).toBe(128)
    expect(acquireAll(limiter, 'n')).toEqual([true])
    expect(limiter.acquire(at('well'), 'topic')).toBeDefined()
    // As each shows that it hangs, the next comes in its place.
    for (const [index, { webhook_id: id }] of hostile.entries()) {
      limiter.note(id, true)
      taken(limiter, hostile.slice(index, index + 200))
    }
    expect(limiter.permitsLeft().all.quick).toBeGreaterThanOrEqual(total / 2)
    expect(acquireAll(limiter, 'm')).toEqual([true])
    expect(limiter.acquire(at('well'), 'topic')).toBeDefined()
  })

  test('with 1,000 slow endpoints beside one of another project', () => {
    const limiter = limiterOf({ total, perEndpoint: 16 }, [], ['other'])
    const slow = many(1_000, 'busy')
    for (const { webhook_id: id } of slow) limiter.note(id, true)
    expect(taken(limiter, slow)).toBe(256)
    const other = Array.from({ length: 16 }, () => at('other'))
    expect(taken(limiter, other)).toBe(16)
  })

  test('with quick endpoints that all turn slow at once', () => {
    const limiter = limiterOf({ total, perEndpoint: 16 }, ['other'])
    const quick = many(100, 'busy')
    for (const { webhook_id: id } of quick) limiter.note(id, false)
    for (let round = 0; round < 16; round++) taken(limiter, quick)
    for (const { webhook_id: id } of quick) limiter.note(id, true)
    expect(taken(limiter, [at('other')])).toBe(1)
  })
})

test('however many projects have endpoints that hang, a quarter is left to quick ones', () => {
  const limiter = limiterOf({ total: 64 }, ['well'])
  for (const endpoint of many(1_000)) {
    limiter.acquire(endpoint, 'topic')
    limiter.note(endpoint.webhook_id, true)
  }
  for (const endpoint of many(1_000)) limiter.acquire(endpoint, 'topic')
  expect(limiter.permitsLeft().all.quick).toBe(16)
  expect(acquireAll(limiter, 'z')).toEqual([false])
  expect(limiter.acquire(at('well'), 'topic')).toBeDefined()
})

test('what is known of endpoints has a bound: those not heard of for longest are unknown again', () => {
  const limiter = limiterOf({ maxKnown: 2 }, ['a', 'b'])
  expect(acquireAll(limiter, 'bb')).toEqual([true, true])
  limiter.note('a', false)
  limiter.note('c', true)
  expect(limiter.known).toBe(2)
  expect(limiter.permitsLeft().endpoints).toContainEqual({ webhookId: 'b', kind: 'unknown', permits: 0 })
  expect(acquireAll(limiter, 'aa')).toEqual([true, true])
})

test('who waits goes first', () => {
  const limiter = limiterOf({}, ['a'])
  limiter.holdBack(at('a'))
  expect(limiter.heldBack()).toEqual([at('a')])
  expect(limiter.permitsLeft().endpoints).toEqual([{ webhookId: 'a', kind: 'quick', permits: 2 }])
  expect(limiter.hasPermit(at('a'))).toBe(true)
  expect(limiter.acquire(at('a'), 'topic')).toBeUndefined()
  expect(limiter.acquire(at('a'), 'waiting')).toBeDefined()
  limiter.letPass('a')
  expect(limiter.acquire(at('a'), 'topic')).toBeDefined()
})

describe('in line for a place at a quick endpoint', () => {
  const fill = (limiter: EndpointLimiter) => [
    limiter.acquire(at('a'), 'topic'),
    limiter.acquire(at('a'), 'topic'),
  ]

  test('who came first goes first, and nobody passes them', async () => {
    const limiter = limiterOf({}, ['a'])
    const [one, other] = fill(limiter)
    const got: number[] = []
    const inLine = [1, 2].map((number) =>
      limiter.acquireSoon(at('a')).then((place) => place && got.push(number)),
    )
    one?.()
    await inLine[0]
    other?.()
    await inLine[1]
    expect(got).toEqual([1, 2])
    expect(limiter.acquire(at('a'), 'topic')).toBeUndefined()
    expect(limiter.hasPermit(at('a'))).toBe(false)
  })

  test.each<[string, (limiter: EndpointLimiter) => void]>([
    ['turns slow', (limiter) => limiter.note('a', true)],
    ['is held back', (limiter) => limiter.holdBack(at('a'))],
  ])('the line ends when the endpoint %s', async (_name, change) => {
    const limiter = limiterOf({}, ['a'])
    fill(limiter)
    const place = limiter.acquireSoon(at('a'))
    expect(await atOnce(place)).toBe('waits')
    change(limiter)
    expect(await atOnce(place)).toBeUndefined()
  })

  test('it is as long as four for each place, and moves on by itself when none becomes free', async () => {
    const limiter = limiterOf({}, ['a'])
    fill(limiter)
    const inLine = Array.from({ length: 8 }, () => limiter.acquireSoon(at('a')))
    expect(await atOnce(limiter.acquireSoon(at('a')))).toBeUndefined()
    expect(await Promise.all(inLine)).toEqual(Array(8).fill(undefined))
  })

  test('a place that others gave back is taken at once', async () => {
    const limiter = limiterOf({ total: 2 }, ['a', 'b', 'c'])
    const [one] = [limiter.acquire(at('b'), 'topic'), limiter.acquire(at('c'), 'topic')]
    const place = limiter.acquireSoon(at('a'))
    one?.()
    expect(await place).toBeDefined()
  })

  test('nobody waits for an unknown one behind the endpoints of others', async () => {
    const limiter = limiterOf({ total: 4 })
    const first = limiter.acquire(at('a'), 'topic')
    expect(await atOnce(limiter.acquireSoon(at('b')))).toBeUndefined()
    const second = limiter.acquireSoon(at('a'))
    first?.()
    expect(await second).toBeDefined()
  })

  test('nobody waits for a slow one, nor behind those that are held back', async () => {
    const limiter = limiterOf({}, ['b'], ['a'])
    fill(limiter)
    expect(await atOnce(limiter.acquireSoon(at('a')))).toBeUndefined()
    limiter.holdBack(at('b'))
    expect(await atOnce(limiter.acquireSoon(at('b')))).toBeUndefined()
  })
})
