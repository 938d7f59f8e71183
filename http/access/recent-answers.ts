import { ageAt, type Clock } from '#runtime/clock.ts'
import { SluiceError } from '#runtime/errors.ts'

interface RecentAnswersOptions<T> {
  /** Reads the value. Rejects with a `later` SluiceError when the source is away. Undefined is not kept. */
  load: (name: string) => Promise<T | undefined>
  clock: Clock
  /** Whether changes are announced to this process. While they are not, every use reads the source. */
  hearsChanges: () => boolean
  /** How long a value is used without reading it again, in milliseconds. */
  freshMs: number
  /** How long a value is used while the source is away, in milliseconds. */
  staleMs: number
  capacity: number
}

interface Answer<T> {
  value: T
  askedAtMs: number
}

/** A short-lived cache of a slow source; at most one read per name is under way. */
export interface RecentAnswers<T> {
  find(name: string): Promise<T | undefined>
  /** Drops the values that `matches` selects, and the results of reads that are under way. */
  forget(matches: (value: T) => boolean): void
}

export function createRecentAnswers<T>(options: RecentAnswersOptions<T>): RecentAnswers<T> {
  const { load, clock, hearsChanges, freshMs, staleMs, capacity } = options
  const answers = new Map<string, Answer<T>>()
  const underWay = new Map<string, Promise<T | undefined>>()
  // A read that began before a change may return the old value, so its result is not kept.
  let generation = 0

  async function ask(name: string): Promise<T | undefined> {
    const askedIn = generation
    const askedAtMs = clock.now()
    const value = await load(name)
    if (value === undefined) answers.delete(name)
    else if (askedIn === generation) keep(name, { value, askedAtMs })
    return value
  }

  function keep(name: string, answer: Answer<T>): void {
    answers.delete(name)
    answers.set(name, answer)
    if (answers.size <= capacity) return
    const oldest = answers.keys().next()
    if (oldest.done === false) answers.delete(oldest.value)
  }

  function askOnce(name: string): Promise<T | undefined> {
    const asking = underWay.get(name)
    if (asking !== undefined) return asking
    const asked = ask(name).finally(() => {
      if (underWay.get(name) === asked) underWay.delete(name)
    })
    underWay.set(name, asked)
    return asked
  }

  return {
    async find(name) {
      const known = answers.get(name)
      if (known !== undefined && hearsChanges() && ageAt(clock.now(), known.askedAtMs) < freshMs)
        return known.value
      try {
        return await askOnce(name)
      } catch (error) {
        const isAway = error instanceof SluiceError && error.retry === 'later'
        const last = answers.get(name)
        if (isAway && last !== undefined && ageAt(clock.now(), last.askedAtMs) < staleMs) return last.value
        throw error
      }
    },
    forget(matches) {
      generation += 1
      underWay.clear()
      for (const [name, { value }] of answers) if (matches(value)) answers.delete(name)
    },
  }
}
