import { expect, test } from '@jest/globals'
import { createEndpointSlots } from './endpoint-slots.ts'

test('an endpoint has its places and no more; another has its own', () => {
  const slots = createEndpointSlots({ limit: 2, slowLimit: 1 })
  const first = slots.take('a', 'topic')
  expect(slots.take('a', 'topic')).toBeDefined()
  expect(slots.take('a', 'topic')).toBeUndefined()
  expect(slots.take('b', 'topic')).toBeDefined()
  expect(slots.total()).toBe(3)
  first?.()
  first?.()
  expect(slots.total()).toBe(2)
  expect(slots.take('a', 'topic')).toBeDefined()
  expect(slots.placesLeft()).toEqual(
    new Map([
      ['a', 0],
      ['b', 1],
    ]),
  )
})

test('one that ran into its time limit has fewer, until it answers in time', () => {
  const slots = createEndpointSlots({ limit: 2, slowLimit: 1 })
  slots.note('a', true)
  expect(slots.placesLeft()).toEqual(new Map([['a', 1]]))
  expect(slots.take('a', 'topic')).toBeDefined()
  expect(slots.take('a', 'topic')).toBeUndefined()
  slots.note('a', false)
  expect(slots.take('a', 'topic')).toBeDefined()
})

test('who waits goes first', () => {
  const slots = createEndpointSlots({ limit: 2, slowLimit: 1 })
  slots.holdBack('a')
  expect(slots.heldBack()).toEqual(['a'])
  expect(slots.take('a', 'topic')).toBeUndefined()
  expect(slots.take('a', 'waiting')).toBeDefined()
  slots.letPass('a')
  expect(slots.take('a', 'topic')).toBeDefined()
})
