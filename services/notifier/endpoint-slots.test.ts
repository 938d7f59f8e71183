import { describe, expect, test } from '@jest/globals'
import { createEndpointSlots, type EndpointSlots, type SlotOptions } from './endpoint-slots.ts'

function slotsOf(options: Partial<SlotOptions>, fast: readonly string[] = [], slow: readonly string[] = []) {
  const slots = createEndpointSlots({ perEndpoint: 2, total: 10, ...options })
  for (const webhookId of fast) slots.note(webhookId, false)
  for (const webhookId of slow) slots.note(webhookId, true)
  return slots
}

/** Which of these get a place, asked in this order. */
function takeAll(slots: EndpointSlots, webhookIds: string): boolean[] {
  return Array.from(webhookIds, (webhookId) => slots.take(webhookId, 'topic') !== undefined)
}

test('an endpoint has its places and no more; another has its own', () => {
  let taken = 0
  const slots = slotsOf({ onChange: (count) => (taken = count) }, ['a', 'b'])
  const giveBack = slots.take('a', 'topic')
  expect(takeAll(slots, 'aab')).toEqual([true, false, true])
  expect(taken).toBe(3)
  giveBack?.()
  giveBack?.()
  expect(taken).toBe(2)
  expect(slots.free()).toBe(8)
  expect(takeAll(slots, 'a')).toEqual([true])
  expect(slots.placesLeft()).toEqual(
    new Map([
      ['b', 1],
      ['a', 0],
    ]),
  )
})

test('one of which nothing is known has one place until an attempt ends', () => {
  const slots = slotsOf({})
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

test('what slow ones have left is dealt to those that have least', () => {
  const slots = slotsOf({ total: 6, perEndpoint: 3 }, [], ['a', 'b', 'c'])
  takeAll(slots, 'a')
  expect(slots.placesLeft()).toEqual(
    new Map([
      ['a', 0],
      ['b', 1],
      ['c', 1],
    ]),
  )
})

test('who waits goes first', () => {
  const slots = slotsOf({}, ['a'])
  slots.holdBack('a')
  expect(slots.heldBack()).toEqual(['a'])
  expect(slots.placesLeft()).toEqual(new Map([['a', 2]]))
  expect(slots.take('a', 'topic')).toBeUndefined()
  expect(slots.take('a', 'waiting')).toBeDefined()
  slots.letPass('a')
  expect(slots.take('a', 'topic')).toBeDefined()
})

describe('in line for a place at a quick endpoint', () => {
  const fill = (slots: EndpointSlots) => [slots.take('a', 'topic'), slots.take('a', 'topic')]

  test('who came first goes first, and nobody passes them', async () => {
    const slots = slotsOf({}, ['a'])
    const [one, other] = fill(slots)
    const got: number[] = []
    const inLine = [1, 2].map((number) => slots.takeSoon('a').then((place) => place && got.push(number)))
    one?.()
    await inLine[0]
    other?.()
    await inLine[1]
    expect(got).toEqual([1, 2])
    expect(slots.take('a', 'topic')).toBeUndefined()
    expect(slots.free()).toBe(8)
  })

  test.each<[string, (slots: EndpointSlots) => void]>([
    ['turns slow', (slots) => slots.note('a', true)],
    ['is held back', (slots) => slots.holdBack('a')],
  ])('the line ends when the endpoint %s', async (_name, change) => {
    const slots = slotsOf({}, ['a'])
    const [one] = fill(slots)
    const place = slots.takeSoon('a')
    change(slots)
    one?.()
    expect(await place).toBeUndefined()
  })

  test('it is as long as four for each place, and moves on by itself when none becomes free', async () => {
    const slots = slotsOf({}, ['a'])
    fill(slots)
    const inLine = Array.from({ length: 8 }, () => slots.takeSoon('a'))
    expect(await slots.takeSoon('a')).toBeUndefined()
    expect(await Promise.all(inLine)).toEqual(Array(8).fill(undefined))
  })

  test('nobody waits for a slow one', async () => {
    const slots = slotsOf({}, [], ['a'])
    fill(slots)
    expect(await slots.takeSoon('a')).toBeUndefined()
  })
})
