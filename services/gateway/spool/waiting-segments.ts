import { areBodiesDue } from './erase-bodies.ts'
import type { RecentRecords } from './recent-records.ts'
import { isEphemeralPath, removeSegment, type Segment } from './segment.ts'
import type { SpoolProblems } from './spool-problems.ts'

export interface SpoolDepth {
  records: number
  /** Of these, sealed under a key that is not here. */
  foreignRecords: number
  bytes: number
  /** Of all that lies in `set-aside/`, by whichever gateway: beside the spool's. */
  asideBytes: number
  /** When the oldest record that is not sent was written, about; undefined when all are sent. */
  oldestMs: number | undefined
}

/** The segments of a spool, oldest first, and whose turn it is. */
export interface WaitingSegments {
  /** One that is written to from now on. */
  begin(segment: Segment): void
  /** Those that others left, which are older. */
  adopt(segments: readonly Segment[]): void
  all(): readonly Segment[]
  depth(): Omit<SpoolDepth, 'asideBytes'>
  hasTakeable(): boolean
  /**
   * What to take from or, when all of it is sent, to remove: the oldest; after one that was taken and not released those behind it, because what
   * keeps that from being sent may be a record of it, and those behind it show whether.
   */
  next(): Segment | undefined
  /** Begins with the oldest again, unless one was given up just now. */
  nextTurn(): void
  /** It makes no room until it is released, or another is held. */
  hold(segment: Segment, isTaken: boolean): void
  release(): void
  /** Whether it is gone. One that cannot be removed stays, and is tried again. */
  remove(segment: Segment): Promise<boolean>
  /** The oldest that may be dropped. */
  victim(): Segment | undefined
  /** Those of projects that keep no content that are due to lose their bodies. */
  dueEphemeral(nowMs: number): readonly Segment[]
}

interface WaitingSegmentsDependencies {
  recent: RecentRecords
  problems: SpoolProblems
  /** Whether it is written to. */
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
      // At once, so that nobody else takes it meanwhile.
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

/** What to say of records that nobody here can open. */
export function foreignProblem({ foreignRecords }: SpoolDepth): string | null {
  if (foreignRecords === 0) return null
  return `${foreignRecords} records are sealed under another SPOOL_KEY: they wait for a gateway that has it`
}
