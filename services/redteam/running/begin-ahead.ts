import type { AttemptStore } from '../stores/attempt-store.ts'
import type { PlannedAttempt } from '../steps/plan-attempts.ts'

/** Attempts for this process to send, marked as begun before they are handed out. */
export interface BegunAttempts {
  /** The next attempt, once a permit is free; undefined: none is left, or `stop` was called. */
  next(): Promise<PlannedAttempt | undefined>
  /** Releases the permit of an attempt that is recorded or returned. */
  ended(): void
  /** Hands out no more. */
  stop(): void
  /** After `stop`: returns attempts that were begun and not handed out. */
  releaseRest(): Promise<void>
}

const pageSize = 500

/**
 * Begins attempts in Postgres before they are sent, many a statement, so no sender waits for a round trip. A
 * kill makes all that is begun and not recorded `interrupted`: at most three times the concurrency, however
 * slow the recording is.
 */
export function beginAhead(
  attempts: Pick<AttemptStore, 'planned' | 'begin' | 'release'>,
  concurrency: number,
): BegunAttempts {
  const [maxBegun, ahead] = [3 * concurrency, Math.ceil(concurrency / 2)]
  const ready: PlannedAttempt[] = []
  const waiting: PromiseWithResolvers<PlannedAttempt | undefined>[] = []
  const begin = createBeginner(attempts)
  let [begun, isExhausted, isStopped] = [0, false, false]
  let failed: { error: unknown } | undefined
  let filling: Promise<void> | undefined

  const wanted = () => Math.min(waiting.length + ahead - ready.length, maxBegun - begun)
  // Below half: a statement for each attempt costs more than it saves.
  const isLow = () =>
    wanted() > 0 && ready.length <= ahead / 2 && !isExhausted && !isStopped && failed === undefined

  const handOut = () => {
    while (waiting.length > 0 && ready.length > 0 && !isStopped) waiting.shift()?.resolve(ready.shift())
    if (failed !== undefined || isStopped || (isExhausted && ready.length === 0)) turnAway(waiting, failed)
  }

  async function fill(): Promise<void> {
    try {
      while (isLow()) {
        // Counted before the statement: if its answer is lost, the attempts may have begun.
        const most = wanted()
        begun += most
        const taken = await begin(most)
        isExhausted = taken === undefined
        begun -= most - (taken?.length ?? 0)
        ready.push(...(taken ?? []))
        handOut()
      }
    } catch (error) {
      // Reported to every caller. Going on would skip the attempts in doubt.
      failed = { error }
      handOut()
    }
    filling = undefined
  }

  const look = () => {
    handOut()
    if (filling === undefined && isLow()) filling = fill()
  }
  return {
    next() {
      const asked = Promise.withResolvers<PlannedAttempt | undefined>()
      waiting.push(asked)
      look()
      return asked.promise
    },
    ended() {
      begun--
      look()
    },
    stop() {
      isStopped = true
      handOut()
    },
    async releaseRest() {
      await filling
      if (ready.length > 0) await attempts.release(ready.splice(0).map(({ number }) => number))
    },
  }
}

/** Begins up to that many attempts, next in the plan; undefined: none is left. */
function createBeginner(attempts: Pick<AttemptStore, 'planned' | 'begin'>) {
  let page: PlannedAttempt[] = []
  let after = -1
  return async (most: number): Promise<PlannedAttempt[] | undefined> => {
    if (page.length === 0) page = await attempts.planned(after, pageSize)
    after = page.at(-1)?.number ?? after
    if (page.length === 0) return undefined
    const chosen = page.splice(0, most)
    const taken = await attempts.begin(chosen.map(({ number }) => number))
    return chosen.filter(({ number }) => taken.has(number))
  }
}

function turnAway(
  waiting: PromiseWithResolvers<PlannedAttempt | undefined>[],
  failed: { error: unknown } | undefined,
): void {
  for (const { resolve, reject } of waiting.splice(0))
    if (failed === undefined) resolve(undefined)
    else reject(failed.error)
}
