/** A record that was begun this often without an end goes to the dead letters. */
export const MAX_TRIES = 3

/**
 * What the metadata of a committed offset says while work behind it is under way: the record at the offset is in its try
 * number `tries`, and records up to `until` (exclusive) may have been begun too. Found by a starting consumer it means that
 * the one before ended without stopping; a clean stop leaves none.
 */
export interface CrashMark {
  tries: number
  until: bigint
}

const pattern = /^sluice tries=(\d{1,3}) until=(\d{1,19})$/

export function writeMark({ tries, until }: CrashMark): string {
  return `sluice tries=${tries} until=${until.toString()}`
}

/** What any other tool writes into the metadata means nothing here. */
export function readMark(metadata: string | null): CrashMark | null {
  const [, tries, until] = pattern.exec(metadata ?? '') ?? []
  if (tries === undefined || until === undefined || Number(tries) < 1) return null
  return { tries: Number(tries), until: BigInt(until) }
}

/** What a consumer that did not stop cleanly left behind: the mark and the offset that carries it. */
export interface Suspects {
  from: bigint
  mark: CrashMark
}

/** How often the record at `offset` was begun before. Only the record at the mark itself is known to have been tried more than once. */
export function triesBefore(suspects: Suspects | null, offset: bigint): number {
  if (suspects === null || offset < suspects.from || offset >= suspects.mark.until) return 0
  return offset === suspects.from ? suspects.mark.tries : 1
}

/** The mark for the time when nothing is being worked on at `offset`: what is suspected stays so until somebody has worked on it. */
export function restingMark(suspects: Suspects | null, offset: bigint): CrashMark | null {
  const tries = triesBefore(suspects, offset)
  return suspects === null || tries === 0 ? null : { tries, until: suspects.mark.until }
}

/** The mark for the time when `offset` is being worked on, with records up to `until` that are not suspected. */
export function workingMark(suspects: Suspects | null, offset: bigint, until: bigint): CrashMark {
  const before = triesBefore(suspects, offset)
  return suspects === null || before === 0
    ? { tries: 1, until }
    : { tries: before + 1, until: suspects.mark.until }
}

export function sameMark(left: CrashMark | null, right: CrashMark | null): boolean {
  return left?.tries === right?.tries && left?.until === right?.until
}
