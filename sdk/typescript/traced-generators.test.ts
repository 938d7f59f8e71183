import { afterAll, expect, test } from '@jest/globals'
import { createClient } from './create-client.ts'
import type { AnyFunction, CallRecord } from './types.ts'

/**
 * What the program received from the traced `work`, and what was recorded right after: nothing waits for
 * collection.
 */
async function used<F extends AnyFunction, T>(work: F, program: (traced: F) => T, times = 1) {
  const records: CallRecord[] = []
  const keep = (record: CallRecord) => {
    records.push(record)
    return null
  }
  const client = createClient({ apiKey: 'svc_test', baseUrl: 'http://127.0.0.1:9', beforeSend: keep })
  let traced = work
  for (let time = 0; time < times; time++) traced = client.trace(traced)
  const got = await program(traced)
  await client.shutdown(0)
  const recorded = records.map(({ response_body, error }) => {
    const result = response_body?.['result']
    return error === undefined ? result : { error, result }
  })
  return { got, recorded }
}

function* counting(): Generator<number, string> {
  yield 1
  yield 2
  yield 3
  return 'done'
}
async function* countingLater(): AsyncGenerator<number> {
  yield 1
  await Promise.resolve()
  yield 2
}
function looped(steps: Iterable<number>): number[] {
  const seen: number[] = []
  for (const step of steps) seen.push(step)
  return seen
}
function disposed(given: Generator<number>): unknown {
  using steps = given
  return steps.next().value
}
async function disposedLater(given: AsyncGenerator<number>): Promise<unknown> {
  await using steps = given
  return (await steps.next()).value
}
const even = (n: number) => n % 2 === 0
const whole = { yielded: [1, 2, 3], returned: 'done' }
const left = { yielded: [1] }

test.each<[string, (steps: Generator<number, string>) => unknown, unknown, unknown]>([
  ['toArray', (steps) => steps.toArray(), [1, 2, 3], whole],
  ['map and take', (steps) => steps.map(String).take(2).toArray(), ['1', '2'], { yielded: [1, 2] }],
  ['a loop over filter', (steps) => looped(steps.filter(even)), [2], whole],
  ['find, which leaves it early', (steps) => steps.find(even), 2, { yielded: [1, 2] }],
  ['reduce', (steps) => steps.reduce((sum, n) => sum + n), 6, whole],
  ['Iterator.from', (steps) => Iterator.from(steps).toArray(), [1, 2, 3], whole],
  // prettier-ignore
  ['a step and return', (steps) => [steps.next().value, steps.return('left').value], [1, 'left'], { ...left, returned: 'left' }],
  ['using', disposed, 1, left],
])('a generator read by %s is recorded once, with what it yielded', async (_name, read, got, result) => {
  expect(await used(counting, (traced) => read(traced()))).toEqual({ got, recorded: [result] })
  expect(await used(counting, (traced) => read(traced()), 2)).toEqual({ got, recorded: [result, result] })
})

/** As libraries extend the prototype of async generators. */
const inherited = Object.getPrototypeOf(Object.getPrototypeOf(countingLater.prototype)) as object
Reflect.set(inherited, 'collect', function (this: AsyncGenerator<number>) {
  return Array.fromAsync(this)
})
afterAll(() => {
  Reflect.deleteProperty(inherited, 'collect')
})

test.each<
  [string, (steps: AsyncGenerator<number> & { collect?: () => unknown }) => unknown, unknown, unknown]
>([
  ['await using', disposedLater, 1, left],
  ['a method that a library adds', (steps) => steps.collect?.(), [1, 2], { yielded: [1, 2] }],
  // prettier-ignore
  ['return', async (steps) => [(await steps.next()).done, (await steps.return(0)).done], [false, true], { ...left, returned: 0 }],
])(
  'an async generator read by %s is recorded once, with what it yielded',
  async (_name, read, got, result) => {
    expect(await used(countingLater, (traced) => read(traced()))).toEqual({ got, recorded: [result] })
    expect(await used(countingLater, (traced) => read(traced()), 2)).toEqual({
      got,
      recorded: [result, result],
    })
  },
)

test('what a generator throws, and what the function of a helper throws, which leaves it', async () => {
  const failure = new Error('no')
  const failing = function* () {
    yield 1
    throw failure
  }
  const refuse = () => {
    throw failure
  }
  const caught = (work: () => unknown) => {
    try {
      return work()
    } catch (error) {
      return error
    }
  }
  expect(await used(failing, (traced) => caught(() => traced().toArray()))).toEqual({
    got: failure,
    recorded: [{ error: 'Error: no', result: left }],
  })
  expect(await used(counting, (traced) => caught(() => traced().map(refuse).toArray()))).toEqual({
    got: failure,
    recorded: [left],
  })
})

test("a program's own generator keeps its private fields, and is heard by the helpers that it inherits", async () => {
  class Own extends Iterator<number> {
    #left = [1, 2]
    override get [Symbol.toStringTag]() {
      return 'Generator'
    }
    override next(): IteratorResult<number> {
      const value = this.#left.shift()
      return value === undefined ? { done: true, value } : { done: false, value }
    }
    waiting() {
      return this.#left.length
    }
  }
  const { got, recorded } = await used(
    () => new Own(),
    (traced) => {
      const own = traced()
      return [own.waiting(), own.toArray()]
    },
  )
  expect([got, recorded]).toEqual([[2, [1, 2]], [{ yielded: [1, 2] }]])
})

test('a method of a generator’s own runs on the generator itself', async () => {
  const aborts = new WeakMap<object, () => string>()
  const stoppable = () => {
    const steps = Object.assign(counting(), {
      cancel(this: object) {
        return aborts.get(this)?.()
      },
    })
    aborts.set(steps, () => 'stopped')
    return steps
  }
  const { got } = await used(stoppable, (traced) => {
    const steps = traced()
    return [steps.cancel(), looped(steps)]
  })
  expect(got).toEqual(['stopped', [1, 2, 3]])
})

test('what a generator has that cannot be changed is given as it is', async () => {
  const stoppable = () => Object.defineProperty(counting(), 'cancel', { value: () => 'stopped' })
  const { got, recorded } = await used(stoppable, (traced) => {
    const steps = traced() as ReturnType<typeof counting> & { cancel: () => string }
    return [steps.cancel(), looped(steps)]
  })
  expect([got, recorded]).toEqual([['stopped', [1, 2, 3]], [whole]])
})
