/** A record that was begun this often without an end goes to the dead letters. */
export const MAX_TRIES = 3

/**
 * What the metadata of a committed offset says while work behind it is under way: who began the record at the offset, a name for each
 * try, the last one last; records up to `until` (exclusive) may have been begun too. Found by a starting consumer it means that the one
 * before ended without stopping, or lost the partition and lives; a clean stop leaves none.
 */
export interface CrashMark {
  writers: readonly string[]
  until: bigint
}

const pattern = /^sluice by=([\w-]{1,36}(?:,[\w-]{1,36}){0,9}) until=(\d{1,19})$/

export function writeMark({ writers, until }: CrashMark): string {
  return `sluice by=${writers.join()} until=${until.toString()}`
}

/** What any other tool writes into the metadata means nothing here. */
export function readMark(metadata: string | null): CrashMark | null {
  const [, writers, until] = pattern.exec(metadata ?? '') ?? []
  if (writers === undefined || until === undefined) return null
  return { writers: writers.split(','), until: BigInt(until) }
}

/** What a consumer that did not stop cleanly left behind: the mark and the offset that carries it. */
export interface Suspects {
  from: bigint
  mark: CrashMark
}

/**
 * Without the tries of those that live: what they held when the group gave them up (a coordinator that was lost, a pause longer than the session)
 * has ended nobody. null when nobody else is left.
 */
export function withoutLiving(suspects: Suspects | null, living: ReadonlySet<string>): Suspects | null {
  if (suspects === null) return null
  const { from, mark } = suspects
  const writers = mark.writers.filter((writer) => !living.has(writer))
  return writers.length === 0 ? null : { from, mark: { writers, until: mark.until } }
}

/** Whether the record at the mark has had its tries. */
export function isGivenUp(suspects: Suspects | null): boolean {
  return suspects !== null && suspects.mark.writers.length >= MAX_TRIES
}

/** How often the record at `offset` was begun before. Only the record at the mark itself is known to have been tried more than once. */
export function triesBefore(suspects: Suspects | null, offset: bigint): number {
  if (suspects === null || offset < suspects.from || offset >= suspects.mark.until) return 0
  return offset === suspects.from ? suspects.mark.writers.length : 1
}

/** The mark for the time when nothing is being worked on at `offset`: what is suspected stays so until somebody has worked on it. */
export function restingMark(suspects: Suspects | null, offset: bigint): CrashMark | null {
  const tries = triesBefore(suspects, offset)
  if (suspects === null || tries === 0) return null
  const { writers, until } = suspects.mark
  return { writers: writers.slice(0, tries), until }
}

/** The mark of `writer` for the time when it works on `offset`, with records up to `until` that are not suspected. */
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
