import { describe, expect, test } from '@jest/globals'
import { TransientError } from '#runtime/errors.ts'
import { createReadThroughCache } from './read-through-cache.ts'

function setUp() {
  const state = {
    now: 0,
    hears: true,
    asked: 0,
    load: (name: string): Promise<string | undefined> => Promise.resolve(`${name}!`),
  }
  const answers = createReadThroughCache<string>({
    load: (name) => {
      state.asked += 1
      return state.load(name)
    },
    clock: { now: () => state.now, sleep: () => Promise.resolve() },
    receivesChanges: () => state.hears,
    freshMs: 30_000,
    staleMs: 60_000,
    capacity: 2,
  })
  return { state, answers }
}

const away = () => Promise.reject(new TransientError('POSTGRES_UNAVAILABLE', 'away'))

describe('a read-through cache', () => {
  test('are used for 30 s, then asked for again', async () => {
    const { state, answers } = setUp()
    expect(await answers.find('a')).toBe('a!')
    state.now = 29_999
    await answers.find('a')
    expect(state.asked).toBe(1)
    state.now = 30_000
    await answers.find('a')
    expect(state.asked).toBe(2)
  })

  test('are asked for again when the clock was set back', async () => {
    const { state, answers } = setUp()
    state.now = 3_600_000
    await answers.find('a')
    state.now = 0
    await answers.find('a')
    expect(state.asked).toBe(2)
  })

  test('are asked for at every use while changes are not heard of', async () => {
    const { state, answers } = setUp()
    state.hears = false
    await answers.find('a')
    await answers.find('a')
    expect(state.asked).toBe(2)
  })

  test('serve for 60 s when the source is away, then the error comes through', async () => {
    const { state, answers } = setUp()
    await answers.find('a')
    state.hears = false
    state.load = away
    state.now = 59_999
    expect(await answers.find('a')).toBe('a!')
    state.now = 60_000
    await expect(answers.find('a')).rejects.toThrow('away')
  })

  test('of one name are asked for once at a time', async () => {
    const { state, answers } = setUp()
    expect(await Promise.all([answers.find('a'), answers.find('a')])).toEqual(['a!', 'a!'])
    expect(state.asked).toBe(1)
  })

  test('that changed while being asked for are not kept', async () => {
    const { state, answers } = setUp()
    const held = Promise.withResolvers<string | undefined>()
    state.load = () => held.promise
    const first = answers.find('a')
    answers.forget(() => true)
    state.load = () => Promise.resolve('new')
    expect(await answers.find('a')).toBe('new')
    held.resolve('old')
    expect(await first).toBe('old')
    expect(await answers.find('a')).toBe('new')
  })

  test('that are none any more, or that trying again would not bring, are not stood in for by the last one', async () => {
    const { state, answers } = setUp()
    await answers.find('a')
    state.now = 30_000
    state.load = () => Promise.reject(new Error('a mistake'))
    await expect(answers.find('a')).rejects.toThrow('a mistake')
    state.load = () => Promise.resolve(undefined)
    expect(await answers.find('a')).toBeUndefined()
    state.load = away
    await expect(answers.find('a')).rejects.toThrow('away')
  })

  test('of nothing are never kept, and the longest unasked goes first', async () => {
    const { state, answers } = setUp()
    state.load = () => Promise.resolve(undefined)
    await answers.find('a')
    await answers.find('a')
    expect(state.asked).toBe(2)
    state.load = (name) => Promise.resolve(name)
    for (const name of ['a', 'b', 'c']) await answers.find(name)
    state.asked = 0
    await answers.find('b')
    await answers.find('c')
    expect(state.asked).toBe(0)
    await answers.find('a')
    expect(state.asked).toBe(1)
  })
})
