import { areBodiesDue } from './erase-bodies.ts'
import type { RecentRecords } from './recent-records.ts'
import { isEphemeralPath, removeSegment, type Segment } from './segment.ts'
import type { SpoolProblems } from './spool-problems.ts'

export interface SpoolDepth {
  records: number
  /** Records encrypted with a key that is not configured. */
  foreignRecords: number
  bytes: number
  /** Bytes in `set-aside/`, of all gateways; not part of `bytes`. */
  asideBytes: number
  /** Approximate time of the oldest unsent record; undefined when all are sent. */
  oldestMs: number | undefined
}

/** The segments of a spool, oldest first. */
export interface WaitingSegments {
  /** Adds the segment that is now written to. */
  begin(segment: Segment): void
  /** Adds segments that others left, which are older. */
  adopt(segments: readonly Segment[]): void
  all(): readonly Segment[]
  depth(): Omit<SpoolDepth, 'asideBytes'>
  hasTakeable(): boolean
  /**
   * The segment to send from, or to remove when all is sent: normally the oldest. After one that was taken
   * but not released, the following ones: they show whether a record of it is what blocks sending.
   */
  next(): Segment | undefined
  /** Starts from the oldest again, unless the last one was given up. */
  nextTurn(): void
  /** Protects it from being dropped until it is released or another is held. */
  hold(segment: Segment, isTaken: boolean): void
  release(): void
  /** Returns whether it is gone. One that cannot be removed stays for another try. */
  remove(segment: Segment): Promise<boolean>
  /** The oldest segment that may be dropped. */
  victim(): Segment | undefined
  /** Segments of zero-retention projects whose bodies are due for erasure. */
  dueEphemeral(nowMs: number): readonly Segment[]
}

interface WaitingSegmentsDependencies {
  recent: RecentRecords
  problems: SpoolProblems
  isActive: (segment: Segment) => boolean
}

export function createWaitingSegments({
  recent,
  problems,
  isActive,
}: WaitingSegmentsDependencies): WaitingSegments {
  let segments: Segment[] = []
  let held: Segment | undefined
  let taken: Segment | undefined
  let givenUp: Segment | undefined

  const isTakeable = (segment: Segment) =>
    segment.unsent > 0 && !segment.isForeign && problems.isReadable(segment)
  const isRemovable = (segment: Segment) => !isActive(segment) && problems.isRemovable(segment)

  return {
    begin: (segment) => void segments.push(segment),
    adopt: (older) => void segments.unshift(...older),
    all: () => segments,
    depth: () => depthOf(segments, recent),
    hasTakeable: () => segments.some(isTakeable),
    next() {
      givenUp = taken ?? givenUp
      const behind = givenUp === undefined ? 0 : segments.indexOf(givenUp) + 1
      const inTurn = [...segments.slice(behind), ...segments.slice(0, behind)]
      return inTurn.find((each) => isTakeable(each) || (each.unsent === 0 && isRemovable(each)))
    },
    nextTurn() {
      givenUp = taken
    },
    hold(segment, isTaken) {
      held = segment
      if (isTaken) taken = segment
    },
    release() {
      held = taken = undefined
    },
    async remove(segment) {
      // Removed first, so that nothing else takes it meanwhile.
      segments = segments.filter((other) => other !== segment)
      recent.forget(segment, segment.size)
      try {
        await removeSegment(segment)
        return true
      } catch (error) {
        problems.unremoved(segment, error)
        segments.unshift(segment)
        return false
      }
    },
    victim: () => segments.find((segment) => segment !== held && isRemovable(segment)),
    dueEphemeral: (nowMs) =>
      segments.filter(
        (segment) =>
          isEphemeralPath(segment.path) && !isActive(segment) && areBodiesDue(segment.begunMs, nowMs),
      ),
  }
}

function depthOf(segments: readonly Segment[], recent: RecentRecords): Omit<SpoolDepth, 'asideBytes'> {
  const depth: Omit<SpoolDepth, 'asideBytes'> = {
    records: 0,
    foreignRecords: 0,
    bytes: 0,
    oldestMs: undefined,
  }
  for (const segment of segments) {
    depth.records += segment.unsent
    if (segment.isForeign) depth.foreignRecords += segment.unsent
    depth.bytes += segment.size
    if (segment.unsent > 0) depth.oldestMs ??= recent.oldestOf(segment) ?? segment.begunMs
  }
  return depth
}

/** Describes records that cannot be decrypted here. */
export function foreignProblem({ foreignRecords }: SpoolDepth): string | null {
  if (foreignRecords === 0) return null
  return `${foreignRecords} records are encrypted with another SPOOL_KEY: they wait for a gateway that has it`
}
