import { describe, expect, test } from '@jest/globals'
import type { Endpoint } from './endpoint-lines.ts'
import { createEndpointSlots, type EndpointSlots, type SlotOptions } from './endpoint-slots.ts'

function slotsOf(options: Partial<SlotOptions>, fast: readonly string[] = [], slow: readonly string[] = []) {
  const slots = createEndpointSlots({ perEndpoint: 2, total: 10, ...options })
  for (const webhookId of fast) slots.note(webhookId, false)
  for (const webhookId of slow) slots.note(webhookId, true)
  return slots
}

/** Of a project of its own, unless another is named. */
const at = (webhookId: string, projectId = `of ${webhookId}`): Endpoint => ({
  webhook_id: webhookId,
  project_id: projectId,
})

/** Which of these get a place, asked in this order. */
function takeAll(slots: EndpointSlots, webhookIds: string): boolean[] {
  return Array.from(webhookIds, (webhookId) => slots.take(at(webhookId), 'topic') !== undefined)
}

/** What it brings at once; `waits` while that takes longer than the turn. */
const atOnce = <T>(promise: Promise<T>) =>
  Promise.race([promise, new Promise<string>((resolve) => setImmediate(() => resolve('waits')))])

const many = (count: number, projectId?: string) =>
  Array.from({ length: count }, (_, index) => at(`one ${index}`, projectId))

test('an endpoint has its places and no more; another has its own', () => {
  const slots = slotsOf({}, ['a', 'b'])
  const giveBack = slots.take(at('a'), 'topic')
  expect(takeAll(slots, 'aab')).toEqual([true, false, true])
  expect(slots.taken).toBe(3)
  giveBack?.()
  giveBack?.()
  expect(slots.taken).toBe(2)
  expect(takeAll(slots, 'a')).toEqual([true])
  expect(slots.placesLeft().endpoints).toEqual([
    { webhookId: 'a', kind: 'quick', places: 0 },
    { webhookId: 'b', kind: 'quick', places: 1 },
  ])
})

test('one of which nothing is known has one place until an attempt ends', () => {
  const slots = slotsOf({ total: 64 })
  expect(takeAll(slots, 'aa')).toEqual([true, false])
  slots.note('a', false)
  expect(takeAll(slots, 'a')).toEqual([true])
})

test('there is an end to all of it', () => {
  expect(takeAll(slotsOf({ total: 3 }, ['a', 'b']), 'aabb')).toEqual([true, true, true, false])
})

test('however many are slow, the others find places', () => {
  const slots = slotsOf({ total: 6 }, ['d'], ['a', 'b', 'c'])
  expect(takeAll(slots, 'aabbcdd')).toEqual([true, true, true, false, false, true, true])
  slots.note('c', false)
  expect(takeAll(slots, 'c')).toEqual([true])
})

test('one that turns slow takes its places with it', () => {
  const slots = slotsOf({ total: 6 }, ['a', 'b'], ['c'])
  takeAll(slots, 'aabb')
  slots.note('a', true)
  slots.note('b', true)
  expect(takeAll(slots, 'c')).toEqual([false])
  slots.note('a', false)
  expect(takeAll(slots, 'c')).toEqual([true])
})

test('what may be taken of what waits: by kind, and how much more that is than a project has', () => {
  const slots = slotsOf({ total: 16 }, [], ['a'])
  takeAll(slots, 'aab')
  const { all, leads } = slots.placesLeft()
  expect(all).toEqual({ quick: 13, slow: 6, unknown: 3 })
  expect([...leads]).toEqual([
    ['of a', { quick: 11, slow: 4, unknown: 3 }],
    ['of b', { quick: 12, slow: 6, unknown: 2 }],
  ])
})

describe('one project leaves places to the others', () => {
  const total = 1_024
  const taken = (slots: EndpointSlots, endpoints: readonly Endpoint[]) =>
    endpoints.filter((endpoint) => slots.take(endpoint, 'topic') !== undefined).length

  test('with 1,024 new endpoints that hang', () => {
    const slots = slotsOf({ total }, ['well'])
    const hostile = many(total, 'hostile')
    expect(taken(slots, hostile)).toBe(128)
    expect(takeAll(slots, 'n')).toEqual([true])
    expect(slots.take(at('well'), 'topic')).toBeDefined()
    // As each shows that it hangs, the next comes in its place.
    for (const [index, { webhook_id: id }] of hostile.entries()) {
      slots.note(id, true)
      taken(slots, hostile.slice(index, index + 200))
    }
    expect(slots.placesLeft().all.quick).toBeGreaterThanOrEqual(total / 2)
    expect(takeAll(slots, 'm')).toEqual([true])
    expect(slots.take(at('well'), 'topic')).toBeDefined()
  })

  test('with 1,000 slow endpoints beside one of another project', () => {
    const slots = slotsOf({ total, perEndpoint: 16 }, [], ['other'])
    const slow = many(1_000, 'busy')
    for (const { webhook_id: id } of slow) slots.note(id, true)
    expect(taken(slots, slow)).toBe(256)
    const other = Array.from({ length: 16 }, () => at('other'))
    expect(taken(slots, other)).toBe(16)
  })

  test('with quick endpoints that all turn slow at once', () => {
    const slots = slotsOf({ total, perEndpoint: 16 }, ['other'])
    const quick = many(100, 'busy')
    for (const { webhook_id: id } of quick) slots.note(id, false)
    for (let round = 0; round < 16; round++) taken(slots, quick)
    for (const { webhook_id: id } of quick) slots.note(id, true)
    expect(taken(slots, [at('other')])).toBe(1)
  })
})

test('however many projects have endpoints that hang, a quarter is left to quick ones', () => {
  const slots = slotsOf({ total: 64 }, ['well'])
  for (const endpoint of many(1_000)) {
    slots.take(endpoint, 'topic')
    slots.note(endpoint.webhook_id, true)
  }
  for (const endpoint of many(1_000)) slots.take(endpoint, 'topic')
  expect(slots.placesLeft().all.quick).toBe(16)
  expect(takeAll(slots, 'z')).toEqual([false])
  expect(slots.take(at('well'), 'topic')).toBeDefined()
})

test('what is known of endpoints has a bound: those not heard of for longest are unknown again', () => {
  const slots = slotsOf({ maxKnown: 2 }, ['a', 'b'])
  expect(takeAll(slots, 'bb')).toEqual([true, true])
  slots.note('a', false)
  slots.note('c', true)
  expect(slots.known).toBe(2)
  expect(slots.placesLeft().endpoints).toContainEqual({ webhookId: 'b', kind: 'unknown', places: 0 })
  expect(takeAll(slots, 'aa')).toEqual([true, true])
})

test('who waits goes first', () => {
  const slots = slotsOf({}, ['a'])
  slots.holdBack(at('a'))
  expect(slots.heldBack()).toEqual([at('a')])
  expect(slots.placesLeft().endpoints).toEqual([{ webhookId: 'a', kind: 'quick', places: 2 }])
  expect(slots.hasPlace(at('a'))).toBe(true)
  expect(slots.take(at('a'), 'topic')).toBeUndefined()
  expect(slots.take(at('a'), 'waiting')).toBeDefined()
  slots.letPass('a')
  expect(slots.take(at('a'), 'topic')).toBeDefined()
})

describe('in line for a place at a quick endpoint', () => {
  const fill = (slots: EndpointSlots) => [slots.take(at('a'), 'topic'), slots.take(at('a'), 'topic')]

  test('who came first goes first, and nobody passes them', async () => {
    const slots = slotsOf({}, ['a'])
    const [one, other] = fill(slots)
    const got: number[] = []
    const inLine = [1, 2].map((number) => slots.takeSoon(at('a')).then((place) => place && got.push(number)))
    one?.()
    await inLine[0]
    other?.()
    await inLine[1]
    expect(got).toEqual([1, 2])
    expect(slots.take(at('a'), 'topic')).toBeUndefined()
    expect(slots.hasPlace(at('a'))).toBe(false)
  })

  test.each<[string, (slots: EndpointSlots) => void]>([
    ['turns slow', (slots) => slots.note('a', true)],
    ['is held back', (slots) => slots.holdBack(at('a'))],
  ])('the line ends when the endpoint %s', async (_name, change) => {
    const slots = slotsOf({}, ['a'])
    fill(slots)
    const place = slots.takeSoon(at('a'))
    expect(await atOnce(place)).toBe('waits')
    change(slots)
    expect(await atOnce(place)).toBeUndefined()
  })

  test('it is as long as four for each place, and moves on by itself when none becomes free', async () => {
    const slots = slotsOf({}, ['a'])
    fill(slots)
    const inLine = Array.from({ length: 8 }, () => slots.takeSoon(at('a')))
    expect(await atOnce(slots.takeSoon(at('a')))).toBeUndefined()
    expect(await Promise.all(inLine)).toEqual(Array(8).fill(undefined))
  })

  test('a place that others gave back is taken at once', async () => {
    const slots = slotsOf({ total: 2 }, ['a', 'b', 'c'])
    const [one] = [slots.take(at('b'), 'topic'), slots.take(at('c'), 'topic')]
    const place = slots.takeSoon(at('a'))
    one?.()
    expect(await place).toBeDefined()
  })

  test('nobody waits for an unknown one behind the endpoints of others', async () => {
    const slots = slotsOf({ total: 4 })
    const first = slots.take(at('a'), 'topic')
    expect(await atOnce(slots.takeSoon(at('b')))).toBeUndefined()
    const second = slots.takeSoon(at('a'))
    first?.()
    expect(await second).toBeDefined()
  })

  test('nobody waits for a slow one, nor behind those that are held back', async () => {
    const slots = slotsOf({}, ['b'], ['a'])
    fill(slots)
    expect(await atOnce(slots.takeSoon(at('a')))).toBeUndefined()
    slots.holdBack(at('b'))
    expect(await atOnce(slots.takeSoon(at('b')))).toBeUndefined()
  })
})
