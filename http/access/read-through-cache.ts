import { ageAt, type Clock } from '#runtime/clock.ts'
import { SluiceError } from '#runtime/errors.ts'

interface ReadThroughCacheOptions<T> {
  /** Reads the value. Rejects with a `later` SluiceError when the source is away. Undefined is not kept. */
  load: (name: string) => Promise<T | undefined>
  clock: Clock
  /** Whether changes are announced to this process. While they are not, every use reads the source. */
  receivesChanges: () => boolean
  /** How long a value is used without reading it again, in milliseconds. */
  freshMs: number
  /** How long a value is used while the source is away, in milliseconds. */
  staleMs: number
  capacity: number
}

interface CachedValue<T> {
  value: T
  readAtMs: number
}

/** A short-lived cache of a slow source; at most one read per name is under way. */
export interface ReadThroughCache<T> {
  find(name: string): Promise<T | undefined>
  /** Drops the values that `matches` selects, and the results of reads that are under way. */
  forget(matches: (value: T) => boolean): void
}

export function createReadThroughCache<T>(options: ReadThroughCacheOptions<T>): ReadThroughCache<T> {
  const { load, clock, receivesChanges, freshMs, staleMs, capacity } = options
  const values = new Map<string, CachedValue<T>>()
  const reads = new Map<string, Promise<T | undefined>>()
  // A read that began before a change may return the old value, so its result is not kept.
  let generation = 0

  async function read(name: string): Promise<T | undefined> {
    const readIn = generation
    const readAtMs = clock.now()
    const value = await load(name)
    if (value === undefined) values.delete(name)
    else if (readIn === generation) keep(name, { value, readAtMs })
    return value
  }

  function keep(name: string, entry: CachedValue<T>): void {
    values.delete(name)
    values.set(name, entry)
    if (values.size <= capacity) return
    const oldest = values.keys().next()
    if (oldest.done === false) values.delete(oldest.value)
  }

  function readOnce(name: string): Promise<T | undefined> {
    const pending = reads.get(name)
    if (pending !== undefined) return pending
    const reading = read(name).finally(() => {
      if (reads.get(name) === reading) reads.delete(name)
    })
    reads.set(name, reading)
    return reading
  }

  return {
    async find(name) {
      const known = values.get(name)
      if (known !== undefined && receivesChanges() && ageAt(clock.now(), known.readAtMs) < freshMs)
        return known.value
      try {
        return await readOnce(name)
      } catch (error) {
        const isAway = error instanceof SluiceError && error.retry === 'later'
        const last = values.get(name)
        if (isAway && last !== undefined && ageAt(clock.now(), last.readAtMs) < staleMs) return last.value
        throw error
      }
    },
    forget(matches) {
      generation += 1
      reads.clear()
      for (const [name, { value }] of values) if (matches(value)) values.delete(name)
    },
  }
}
