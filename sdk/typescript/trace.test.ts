import { describe, expect, test } from '@jest/globals'
import { recordOf } from './call-record.ts'
import { currentSession, runInSession } from './session.ts'
import { traceFunction } from './trace.ts'
import type { DeferredWork } from './capturing/defer-work.ts'
import type { AnyFunction, CallRecord, TraceOptions } from './types.ts'

const records: CallRecord[] = []
const atOnce: DeferredWork = { run: (work) => void work(), idle: () => Promise.resolve() }

function unexpected(message: string): never {
  throw new Error(message)
}

function traced<F extends AnyFunction>(work: F, options: TraceOptions = {}): F {
  records.length = 0
  return traceFunction(work, options, {
    session: () => currentSession({ agentName: 'tester' }),
    maxBodyBytes: 4_096,
    record: (raw) => records.push(recordOf(raw)),
    deferred: atOnce,
    lost: unexpected,
    warn: (_topic, message) => unexpected(message),
  })
}

const failure = new Error('no')

describe('each kind of function', () => {
  test('a function: what went in and came out, its own name, length and this', () => {
    const counter = {
      base: 10,
      add: traced(function add(this: { base: number }, a: number, b: number) {
        return this.base + a + b
      }),
    }
    expect(counter.add(1, 2)).toBe(13)
    expect([counter.add.name, counter.add.length]).toEqual(['add', 2])
    expect(records).toMatchObject([
      {
        source: 'trace',
        agent_name: 'tester',
        request_body: { type: 'trace', function: 'add', arguments: [1, 2] },
        response_body: { result: 13 },
      },
    ])
    expect(records[0]?.session_id).toMatch(/^ses_/)
  })

  test('what was too long of either says so, that nobody calls it harmless', () => {
    const long = Array<string>(1_001).fill('')
    traced((times: number) => long.slice(0, times))(1_001)
    expect(records).toMatchObject([{ request_body: {}, response_body: { truncated: true } }])
    traced((list: string[]) => list.length)(long)
    expect(records).toMatchObject([{ request_body: { truncated: true }, response_body: { result: 1_001 } }])
    expect(records[0]?.response_body).not.toHaveProperty('truncated')
  })

  test('one that throws', () => {
    const work = traced(() => {
      throw failure
    })
    expect(work).toThrow(failure)
    expect(records).toMatchObject([{ error: 'Error: no' }])
    expect(records[0]).not.toHaveProperty('response_body')
  })

  test('an async function, resolving and rejecting', async () => {
    const work = traced(async (fails: boolean) => {
      await Promise.resolve()
      if (fails) throw failure
      return { answer: 42n }
    })
    await expect(work(false)).resolves.toEqual({ answer: 42n })
    await expect(work(true)).rejects.toBe(failure)
    expect(records).toMatchObject([{ response_body: { result: { answer: '42' } } }, { error: 'Error: no' }])
  })

  test('what can be awaited but is no promise is not awaited', () => {
    let started = 0
    const lazy = { then: () => started++ }
    expect(traced(() => lazy)()).toBe(lazy)
    expect(started).toBe(0)
    expect(records).toHaveLength(1)
  })

  const throws = () => {
    throw failure
  }
  const { proxy: revoked, revoke } = Proxy.revocable({}, {})
  revoke()
  test.each<[string, unknown]>([
    [
      'that has its kind from a getter that throws',
      Object.defineProperty({}, Symbol.toStringTag, { get: throws }),
    ],
    ['a proxy that throws when it is read', new Proxy({ a: 1 }, { get: throws })],
    [
      'a proxy that throws when it is looked at',
      new Proxy({ a: 1 }, { has: throws, getPrototypeOf: throws }),
    ],
    ['a proxy of a promise', new Proxy(Promise.resolve(1), {})],
    ['a proxy that is revoked', revoked],
  ])('one that returns an object %s', (_name, value) => {
    expect(Object.is(traced(() => value)(), value)).toBe(true)
    expect(records).toHaveLength(1)
  })

  test('a generator stepped after its end is recorded once', () => {
    const steps = traced(function* () {
      yield 1
    })()
    for (let step = 0; step < 4; step++) steps.next()
    steps.return()
    expect(records).toHaveLength(1)
  })

  test('a generator, to its end, left early, and failing', () => {
    const work = traced(function* (fails: boolean): Generator<number, string> {
      yield 1
      if (fails) throw failure
      yield 2
      return 'done'
    })
    expect([...work(false)]).toEqual([1, 2])
    const [first] = work(false)
    expect(first).toBe(1)
    expect(() => [...work(true)]).toThrow(failure)
    expect(records.map((record) => record.response_body)).toEqual([
      { result: { yielded: [1, 2], returned: 'done' } },
      { result: { yielded: [1] } },
      { result: { yielded: [1] } },
    ])
    expect(records[2]?.error).toBe('Error: no')
  })

  test('an async generator, which sees its session at each step', async () => {
    const work = traced(async function* () {
      yield currentSession({}).sessionId
      await Promise.resolve()
      yield currentSession({}).sessionId
    })
    const seen: unknown[] = []
    for await (const each of runInSession({ sessionId: 's1' }, () => work())) seen.push(each)
    expect(seen).toEqual(['s1', 's1'])
    expect(records).toMatchObject([{ session_id: 's1', response_body: { result: { yielded: ['s1s1'] } } }])
  })

  test('a method, decorated', () => {
    const decorate = <F extends AnyFunction>(method: F, context: { name: string | symbol }) =>
      traced(method, { name: String(context.name) })
    class Adder {
      #base = 1
      add(to: number) {
        return this.#base + to
      }
    }
    // Compiled form of `@traced() add(…)`.
    Adder.prototype.add = decorate(Reflect.get(Adder.prototype, 'add'), { name: 'add' })
    expect(new Adder().add(2)).toBe(3)
    expect(records).toMatchObject([{ request_body: { function: 'add' } }])
  })
})

test('what is traced inside shares the session; beside it, another begins', () => {
  const all: (string | undefined)[] = []
  const dependencies = {
    session: () => currentSession({}),
    maxBodyBytes: 4_096,
    record: ({ session_id }: { session_id?: string }) => all.push(session_id),
    deferred: atOnce,
    lost: unexpected,
    warn: unexpected,
  }
  const inner = traceFunction(() => 1, {}, dependencies)
  const outer = traceFunction(() => inner() + inner(), {}, dependencies)
  outer()
  outer()
  const [a, b, c, d, , f] = all
  expect([a, b]).toEqual([c, c])
  expect(d).toBe(f)
  expect(c).not.toBe(f)
})

describe('values are captured as they were, within bounds', () => {
  const cycle: Record<string, unknown> = { name: 'a' }
  cycle['self'] = cycle
  class Point {
    x = 1
    #hidden = 2
    sum() {
      return this.x + this.#hidden
    }
  }
  const throwing = {
    ok: 1,
    get bad() {
      throw failure
    },
  }
  const hostile = new Proxy({}, { ownKeys: () => { throw failure } }) // prettier-ignore

  test.each<[string, unknown, unknown]>([
    ['a cycle', cycle, { name: 'a', self: '[circular]' }],
    ['the same object twice, no cycle', [Point, Point].map(() => cycle['name']), ['a', 'a']],
    ['BigInt, symbols, functions', [1n, Symbol('s'), Point], ['1', 'Symbol(s)', '[function Point]']],
    ['an instance', new Point(), { x: 1 }],
    ['a buffer', Buffer.from('secret'), '[Buffer of 6 bytes]'],
    ['maps and sets', [new Map([['k', 1]]), new Set([1])], [{ Map: [['k', 1]] }, { Set: [1] }]],
    // prettier-ignore
    ['dates, errors, addresses', [new Date(0), failure, new URL('http://a/')], ['1970-01-01T00:00:00.000Z', { name: 'Error', message: 'no' }, 'http://a/']],
    ['numbers that JSON has not', [NaN, Infinity, -0], ['NaN', 'Infinity', 0]],
    ['a getter that throws', throwing, { ok: 1, bad: '[unreadable: Error: no]' }],
    ['a proxy that throws', hostile, '[unreadable: Error: no]'],
    ['a promise', [Promise.resolve(1)], ['[promise]']],
    // prettier-ignore
    ['a field named __proto__', JSON.parse('{"__proto__": {"polluted": 1}}'), JSON.parse('{"__proto__": {"polluted": 1}}')],
  ])('%s', (_name, value, expected) => {
    traced((given: unknown) => given)(value)
    expect(JSON.stringify(records[0]?.request_body['arguments'])).toBe(JSON.stringify([expected]))
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('long texts, long lists and deep nesting are cut and say so', () => {
    let deep: unknown = 'x'
    for (let level = 0; level < 100; level++) deep = [deep]
    traced((given: unknown) => given)(deep)
    expect(JSON.stringify(records[0]?.request_body)).toContain('[too deep]')
    traced((given: unknown) => given)(Array(5_000).fill(1))
    expect(JSON.stringify(records[0]?.request_body)).toContain('[4000 more]')
    traced((given: unknown) => given)('y'.repeat(100_000))
    expect(records[0]?.request_body).toMatchObject({ truncated: true, bytes: 65_636 })
  })

  test('the values of a generator share the bounds', () => {
    const work = traced(function* () {
      for (let turn = 0; turn < 500; turn++) yield 'y'.repeat(60_000)
    })
    expect([...work()]).toHaveLength(500)
    expect(records[0]?.response_body?.['bytes']).toBeLessThan(1_200_000)
  })

  test('a value that changes later is recorded as it was', async () => {
    const list = [1]
    const work = traced(async (given: number[]) => {
      given.push(2)
      await Promise.resolve()
    })
    await work(list)
    expect(records[0]?.request_body['arguments']).toEqual([[1]])
  })
})
