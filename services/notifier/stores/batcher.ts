import { messageOf, TransientError } from '#runtime/errors.ts'

export interface BatcherOptions<I, O> {
  /** Answers in the order of `items`. */
  run: (items: readonly I[]) => Promise<readonly O[]>
  /** What two calls of one statement may not have in common. Absent: any may be together. */
  keyOf?: (item: I) => string
  /** Of one statement. */
  maxItems: number
}

/**
 * What a statement waits for its next calls, for each that the last one had: who is alone waits for nothing,
 * who is busy gathers. A statement costs Postgres half a millisecond before its first row (a delivery's four
 * took 1.5 ms of it alone, 0.09 ms in groups of a hundred).
 */
const paceMsPerCall = 0.5
const maxPaceMs = 20

/** So many that are made together have a statement of their own at once. */
const enoughCalls = 50

interface Call<I, O> {
  item: I
  place: number
  of: Asked<O>
}

/** Calls that were made together. */
interface Asked<O> {
  answers: (O | Error)[]
  left: number
  resolve: (answers: readonly (O | Error)[]) => void
}

/**
 * Calls that come close together share one statement: a round trip and a commit for all of them, one
 * statement at a time (but for large groups), and what comes meanwhile is gathered for the next. Alone, a
 * call waits for nothing but the end of the turn. Each call still has its answer from after the statement has
 * ended. When a statement is refused for good, its calls are made one by one, so that one call's fault is not
 * another's.
 */
export function createBatcher<I, O>(options: BatcherOptions<I, O>): (item: I) => Promise<O> {
  return oneOf(createGroupBatcher(options))
}

/** One call of what is called in groups. */
export function oneOf<I, O>(
  group: (items: readonly I[]) => Promise<readonly (O | Error)[]>,
): (item: I) => Promise<O> {
  return async (item) => {
    const [answer] = await group([item])
    if (Error.isError(answer)) throw answer
    return answer as O
  }
}

/** As {@link createBatcher}, for calls of which several are made together: an answer or an error for each. */
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
      const calls = items.map((item, place) => ({ item, place, of }))
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

function answer<O>({ place, of }: Call<unknown, O>, given: O | Error): void {
  of.answers[place] = given
  if (--of.left === 0) of.resolve(of.answers)
}

export function asError(error: unknown): Error {
  return Error.isError(error) ? error : new Error(messageOf(error), { cause: error })
}
