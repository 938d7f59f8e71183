import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import { createThrottledLog } from '#runtime/throttled-log.ts'
import type { Segment } from './segment.ts'
import type { SetAside } from './set-aside.ts'
import { isMissing } from './spool-lock.ts'
import type { LossReason } from './spool-options.ts'

/** Disk failures. None of them stops the sending of what can still be read. */
export interface SpoolProblems {
  /** The first problem, or null. */
  problem(): string | null
  /** Runs `work`; a failure is logged, and a problem until the next retry. */
  attempt(what: string, work: () => Promise<unknown>): Promise<void>
  /** Why the folder cannot be opened; null: it is open. */
  opened(error: unknown): void
  /** Logs a loss, at most once a second. */
  lost(reason: LossReason, records: number, segment: Segment | undefined): void
  /** Sets what `set-aside/` contains. */
  setAside(aside: SetAside): void
  asideBytes(): number
  /** Result of the last write; null: success. */
  wrote(error: unknown): void
  /** `segment` could not be read. Returns `lost` when no more tries are left. */
  unread(segment: Segment, error: unknown): 'later' | 'lost'
  /** `segment` was read. */
  read(segment: Segment): void
  unremoved(segment: Segment, error: unknown): void
  isReadable(segment: Segment): boolean
  isRemovable(segment: Segment): boolean
  /** Allows another try of everything but writing. */
  retry(): void
}

/** One try per tick of 10 s: five minutes to mount the disk again. */
const maxReadTries = 30

export function createSpoolProblems(log: Log): SpoolProblems {
  const throttledLog = createThrottledLog(1)
  const failures = new WeakMap<Segment, number>()
  const unreadable = new Set<Segment>()
  const unremovable = new Set<Segment>()
  let opening: string | null = null
  let aside: SetAside = { segments: 0, bytes: 0 }
  let writing: string | null = null
  let other: string | null = null

  const note = (error: unknown, path: string | undefined, what: string) => {
    other = `${what}: ${messageOf(error)}`
    log.error({ err: error, segment: path }, `${what}; will retry`)
  }
  return {
    problem: () => opening ?? writing ?? other ?? asideProblem(aside),
    async attempt(what, work) {
      try {
        await work()
      } catch (error) {
        note(error, undefined, what)
      }
    },
    opened(error) {
      opening = error === null ? null : messageOf(error)
    },
    lost(reason, records, segment) {
      throttledLog(reason, (unsaid) =>
        log.error({ reason, records, unsaid, segment: segment?.path }, 'recorded calls are lost'),
      )
    },
    setAside(found) {
      aside = found
    },
    asideBytes: () => aside.bytes,
    wrote(error) {
      writing = error === null ? null : messageOf(error)
    },
    unread(segment, error) {
      note(error, segment.path, 'a spool segment cannot be read')
      const count = (failures.get(segment) ?? 0) + 1
      failures.set(segment, count)
      if (isMissing(error) || count >= maxReadTries) return 'lost'
      unreadable.add(segment)
      return 'later'
    },
    read: (segment) => void failures.delete(segment),
    unremoved(segment, error) {
      note(error, segment.path, 'a spool segment cannot be removed')
      unremovable.add(segment)
    },
    isReadable: (segment) => !unreadable.has(segment),
    isRemovable: (segment) => !unremovable.has(segment),
    retry() {
      unreadable.clear()
      unremovable.clear()
      other = null
    },
  }
}

function asideProblem({ segments }: SetAside): string | null {
  return segments === 0 ? null : `${segments} segments of another version lie in set-aside/`
}
