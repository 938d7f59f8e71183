import { messageOf, TransientError } from '#runtime/errors.ts'

export interface BatcherOptions<I, O> {
  /** Resolves to the results in the order of `items`. */
  run: (items: readonly I[]) => Promise<readonly O[]>
  /** Two calls with the same key never share a statement. */
  keyOf?: (item: I) => string
  /** Limit of one statement. */
  maxItems: number
}

/**
 * Pause before the next statement, for each call of the last: a lone call waits for nothing, a busy process
 * batches. A delivery's four statements take 1.5 ms of Postgres alone, and 0.09 ms in batches of a hundred.
 */
const paceMsPerCall = 0.5
const maxPaceMs = 20

/** A group of this size gets its own statement at once. */
const enoughCalls = 50

interface Call<I, O> {
  item: I
  index: number
  of: Group<O>
}

/** Calls that were made together. */
interface Group<O> {
  answers: (O | Error)[]
  left: number
  resolve: (answers: readonly (O | Error)[]) => void
}

/**
 * Calls of one moment share a statement, with one round trip and one commit. Calls that come meanwhile share
 * the next; large groups do not wait for it. A lone call waits only for the end of the turn. If a statement
 * is refused for good, its calls are made one by one, so that only the faulty call fails.
 */
export function createBatcher<I, O>(options: BatcherOptions<I, O>): (item: I) => Promise<O> {
  return oneOf(createGroupBatcher(options))
}

/** Makes single calls by a function of groups. */
export function oneOf<I, O>(
  group: (items: readonly I[]) => Promise<readonly (O | Error)[]>,
): (item: I) => Promise<O> {
  return async (item) => {
    const [answer] = await group([item])
    if (Error.isError(answer)) throw answer
    return answer as O
  }
}

/** As {@link createBatcher}, for several calls together: resolves to a result or an error for each. */
export function createGroupBatcher<I, O>(
  options: BatcherOptions<I, O>,
): (items: readonly I[]) => Promise<readonly (O | Error)[]> {
  const { run, keyOf, maxItems } = options
  let waiting: Call<I, O>[] = []
  let isPlanned = false
  let nextAtMs = 0

  const takeBatch = (): Call<I, O>[] => {
    const batch: Call<I, O>[] = []
    const left: Call<I, O>[] = []
    const keys = new Set<string>()
    let seen = 0
    for (; seen < waiting.length && batch.length < maxItems; seen++) {
      const call = waiting[seen] as Call<I, O>
      const key = keyOf?.(call.item)
      if (key !== undefined && keys.has(key)) left.push(call)
      else batch.push(call)
      if (key !== undefined) keys.add(key)
    }
    waiting = [...left, ...waiting.slice(seen)]
    return batch
  }
  const settle = async (batch: readonly Call<I, O>[]): Promise<void> => {
    try {
      const answers = await run(batch.map(({ item }) => item))
      batch.forEach((call, index) => answer(call, answers[index] as O))
    } catch (error) {
      if (batch.length > 1 && !(error instanceof TransientError)) {
        for (const call of batch) await settle([call])
      } else for (const call of batch) answer(call, asError(error))
    }
  }
  const begin = async (): Promise<void> => {
    const batch = takeBatch()
    nextAtMs = performance.now() + Math.min(maxPaceMs, (batch.length - 1) * paceMsPerCall)
    await settle(batch)
    isPlanned = false
    plan()
  }
  const plan = (): void => {
    if (isPlanned || waiting.length === 0) return
    isPlanned = true
    const pauseMs = nextAtMs - performance.now()
    if (pauseMs <= 0 || waiting.length >= maxItems) setImmediate(() => void begin())
    else setTimeout(() => void begin(), pauseMs)
  }
  return (items) =>
    new Promise((resolve) => {
      const of = { answers: [], left: items.length, resolve }
      const calls = items.map((item, index) => ({ item, index, of }))
      for (let from = 0; from < calls.length; from += maxItems) {
        const some = calls.slice(from, from + maxItems)
        if (some.length >= enoughCalls && areDistinct(some, keyOf)) void settle(some)
        else waiting.push(...some)
      }
      if (items.length === 0) resolve([])
      plan()
    })
}

function areDistinct<I>(calls: readonly { item: I }[], keyOf: ((item: I) => string) | undefined): boolean {
  return keyOf === undefined || new Set(calls.map(({ item }) => keyOf(item))).size === calls.length
}

function answer<O>({ index, of }: Call<unknown, O>, given: O | Error): void {
  of.answers[index] = given
  if (--of.left === 0) of.resolve(of.answers)
}

export function asError(error: unknown): Error {
  return Error.isError(error) ? error : new Error(messageOf(error), { cause: error })
}
