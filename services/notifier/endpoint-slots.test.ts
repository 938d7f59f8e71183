import { expect, test } from '@jest/globals'
import { createEndpointSlots } from './endpoint-slots.ts'

test('an endpoint has its places and no more; another has its own', () => {
  let taken = 0
  const slots = createEndpointSlots({ perEndpoint: 2, total: 10, onChange: (count) => (taken = count) })
  const first = slots.take('a', 'topic')
  expect(slots.take('a', 'topic')).toBeDefined()
  expect(slots.take('a', 'topic')).toBeUndefined()
  expect(slots.take('b', 'topic')).toBeDefined()
  expect(taken).toBe(3)
  first?.()
  first?.()
  expect(taken).toBe(2)
  expect(slots.take('a', 'topic')).toBeDefined()
  expect(slots.placesLeft()).toEqual(
    new Map([
      ['a', 0],
      ['b', 1],
    ]),
  )
})

test('however many are slow, the others find places', () => {
  const slots = createEndpointSlots({ perEndpoint: 2, total: 6 })
  for (const slow of ['a', 'b', 'c']) slots.note(slow, true)
  const taken = ['a', 'a', 'b', 'b', 'c', 'c'].map(
    (webhookId) => slots.take(webhookId, 'topic') !== undefined,
  )
  expect(taken).toEqual([true, true, true, false, false, false])
  expect(slots.placesLeft().get('c')).toBe(0)
  slots.note('c', false)
  expect(slots.take('c', 'topic')).toBeDefined()
  expect(slots.take('d', 'topic')).toBeDefined()
})

test('there is an end to all of it', () => {
  const slots = createEndpointSlots({ perEndpoint: 2, total: 3 })
  const taken = ['a', 'a', 'b', 'b'].map((webhookId) => slots.take(webhookId, 'topic') !== undefined)
  expect(taken).toEqual([true, true, true, false])
})

test('who waits goes first', () => {
  const slots = createEndpointSlots({ perEndpoint: 2, total: 10 })
  slots.holdBack('a')
  expect(slots.heldBack()).toEqual(['a'])
  expect(slots.take('a', 'topic')).toBeUndefined()
  expect(slots.take('a', 'waiting')).toBeDefined()
  slots.letPass('a')
  expect(slots.take('a', 'topic')).toBeDefined()
})
