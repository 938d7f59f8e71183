import type { KeyObject } from 'node:crypto'
import type { DiskSpace } from './disk-space.ts'
import type { RecentRecords } from './recent-records.ts'
import { framesOf, headerBytes, type Frame } from './segment-format.ts'
import type { Segment } from './segment.ts'
import { isFull } from './spool-lock.ts'
import type { LossReason } from './spool-options.ts'
import type { SpoolProblems } from './spool-problems.ts'
import type { SpoolWriters } from './spool-writers.ts'
import type { WaitingSegments } from './waiting-segments.ts'

/** The disk accepted only some records of a write. */
export class PartlyWritten extends Error {
  /** Why the others were rejected. */
  readonly refused: ReadonlyMap<Buffer, unknown>

  constructor(refused: ReadonlyMap<Buffer, unknown>) {
    super('the disk did not take some of the records that were written together')
    this.refused = refused
  }
}

interface RecordWriterDependencies {
  key: KeyObject | undefined
  now: () => number
  segments: WaitingSegments
  recent: RecentRecords
  space: DiskSpace
  problems: SpoolProblems
  /** Undefined while the directory cannot be written. */
  writers: () => SpoolWriters | undefined
  lose: (reason: LossReason, records: number) => void
}

/** Writes records together; one by one if that fails. One call at a time. */
export type RecordWriter = (records: readonly Buffer[], isEphemeral: boolean) => Promise<void>

export function createRecordWriter(dependencies: RecordWriterDependencies): RecordWriter {
  const { problems, writers, lose } = dependencies
  return async (records, isEphemeral) => {
    const refused = await writeTogether(dependencies, records, isEphemeral).then(
      () => new Map<Buffer, unknown>(),
      (error: unknown) => writeEach(dependencies, records, isEphemeral, error),
    )
    const [first] = refused.values()
    if (writers() !== undefined) problems.wrote(first ?? null)
    if (refused.size === 0) return
    lose('spool_write', refused.size)
    throw refused.size === records.length ? first : new PartlyWritten(refused)
  }
}

/** Writes one by one, as a single record may be too large for the disk. Returns the rejected ones. */
async function writeEach(
  dependencies: RecordWriterDependencies,
  records: readonly Buffer[],
  isEphemeral: boolean,
  error: unknown,
): Promise<Map<Buffer, unknown>> {
  const refused = new Map<Buffer, unknown>()
  for (const record of records) {
    try {
      if (records.length === 1 || dependencies.writers() === undefined) throw error
      await writeTogether(dependencies, [record], isEphemeral)
    } catch (why) {
      refused.set(record, why)
    }
  }
  return refused
}

async function writeTogether(
  dependencies: RecordWriterDependencies,
  records: readonly Buffer[],
  isEphemeral: boolean,
): Promise<void> {
  const { key, now, recent, segments, space, problems } = dependencies
  const writers = dependencies.writers()
  if (writers === undefined)
    throw new Error(`the spool cannot be written: ${problems.problem() ?? 'it is not open'}`)
  const frames = framesOf(records, key)
  const byteLength = frames.reduce((sum, frame) => sum + frame.byteLength, 0)
  const write = async (): Promise<Segment> => {
    await freeSpace(dependencies, writers, byteLength)
    try {
      return await writers.of(isEphemeral).write(frames, (begun) => segments.begin(begun))
    } catch (error) {
      if (!isFull(error)) throw error
      // Another process has filled the disk since it was measured.
      await space.measure(segments.depth().bytes)
      if (!(await dropOldest(dependencies, writers))) throw error
      return await write()
    }
  }
  const segment = await write()
  remember(recent, segment, frames, segment.size - byteLength, now())
  segment.unsent += records.length
}

function remember(
  recent: RecentRecords,
  segment: Segment,
  frames: readonly Frame[],
  start: number,
  writtenMs: number,
): void {
  let at = start
  for (const { records, byteLength } of frames) {
    recent.add({ segment, start: at, end: at + byteLength, records, writtenMs })
    at += byteLength
  }
}

/** A record larger than the whole spool drops nothing. */
async function freeSpace(
  dependencies: RecordWriterDependencies,
  writers: SpoolWriters,
  byteLength: number,
): Promise<void> {
  const { segments, space } = dependencies
  if (headerBytes + byteLength > space.limit())
    throw new Error(`${byteLength} bytes of records exceed the spool's limit of ${space.limit()}`)
  while (segments.depth().bytes + byteLength > space.limit())
    if (!(await dropOldest(dependencies, writers)))
      throw new Error('the spool is full and no segment can be dropped')
}

/** Drops the oldest segment that is not being sent, the active one last. False: none is left. */
async function dropOldest(
  { segments, lose }: RecordWriterDependencies,
  writers: SpoolWriters,
): Promise<boolean> {
  let victim = segments.victim()
  if (victim === undefined) {
    await writers.finishAll()
    victim = segments.victim()
  }
  if (victim === undefined) return false
  if ((await segments.remove(victim)) && victim.unsent > 0) lose('spool_full', victim.unsent)
  return true
}
