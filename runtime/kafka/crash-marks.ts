/** A record that was begun this many times without an end goes to the dead letters. */
export const MAX_TRIES = 3

/**
 * The metadata of a committed offset while work behind it is under way: a name for each try of the record at
 * the offset, the last try last. Records up to `until` (exclusive) may have been begun too. A starting
 * consumer that finds one knows that its predecessor crashed, or lost the partition and lives. A clean stop
 * leaves none.
 */
export interface CrashMark {
  writers: readonly string[]
  until: bigint
}

const pattern = /^sluice by=([\w-]{1,36}(?:,[\w-]{1,36}){0,9}) until=(\d{1,19})$/

export function writeMark({ writers, until }: CrashMark): string {
  return `sluice by=${writers.join()} until=${until.toString()}`
}

/** null for metadata that another tool wrote. */
export function readMark(metadata: string | null): CrashMark | null {
  const [, writers, until] = pattern.exec(metadata ?? '') ?? []
  if (writers === undefined || until === undefined) return null
  return { writers: writers.split(','), until: BigInt(until) }
}

/** What a consumer left that did not stop cleanly: its mark, and the offset that carries it. */
export interface Suspects {
  from: bigint
  mark: CrashMark
}

/**
 * Without the tries of live members: a lost coordinator, or a pause longer than the session, took their
 * partitions and crashed nobody. null when no other try is left.
 */
export function withoutLiving(suspects: Suspects | null, living: ReadonlySet<string>): Suspects | null {
  if (suspects === null) return null
  const { from, mark } = suspects
  const writers = mark.writers.filter((writer) => !living.has(writer))
  return writers.length === 0 ? null : { from, mark: { writers, until: mark.until } }
}

/** Whether the record at the mark has used its tries. */
export function isGivenUp(suspects: Suspects | null): boolean {
  return suspects !== null && suspects.mark.writers.length >= MAX_TRIES
}

/**
 * How often the record at `offset` was begun before. Only the record at the mark can have more than one try.
 */
export function triesBefore(suspects: Suspects | null, offset: bigint): number {
  if (suspects === null || offset < suspects.from || offset >= suspects.mark.until) return 0
  return offset === suspects.from ? suspects.mark.writers.length : 1
}

/** The mark while nothing is under way at `offset`: a suspect stays one until it is worked on. */
export function restingMark(suspects: Suspects | null, offset: bigint): CrashMark | null {
  const tries = triesBefore(suspects, offset)
  if (suspects === null || tries === 0) return null
  const { writers, until } = suspects.mark
  return { writers: writers.slice(0, tries), until }
}

/** The mark of `writer` while it works on `offset`, with unsuspected records up to `until`. */
export function workingMark(
  suspects: Suspects | null,
  offset: bigint,
  { writer, until }: { writer: string; until: bigint },
): CrashMark {
  const before = restingMark(suspects, offset)
  return before === null
    ? { writers: [writer], until }
    : { writers: [...before.writers, writer], until: before.until }
}

export function sameMark(left: CrashMark | null, right: CrashMark | null): boolean {
  return left?.writers.join() === right?.writers.join() && left?.until === right?.until
}
