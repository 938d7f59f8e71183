import type { KeyObject } from 'node:crypto'
import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import { adoptFolders, createFolder } from './adopt-folders.ts'
import { createRecentRecords } from './recent-records.ts'
import { encodeFrame } from './segment-format.ts'
import { createSegmentWriter, type SegmentWriter } from './segment-writer.ts'
import { inspectSegment, readSegment, removeSegment, writeSentOffset, type Segment } from './segment.ts'
import { releaseFolder, touchEveryMs, touchLock } from './spool-lock.ts'

export type LossReason = 'spool_full' | 'spool_write' | 'damaged' | 'unreadable'

export interface SpoolOptions {
  directory: string
  /** The name of this process's folder. */
  name: string
  key: KeyObject | undefined
  maxBytes: number
  now: () => number
  log: Log
  /** Told of every record that is lost. */
  onLost: (reason: LossReason, records: number) => void
}

/** Records that are next to be sent, all of one segment, oldest first. */
export interface SpoolBatch {
  records: readonly Buffer[]
  segment: Segment
  /** Records that the batch stands for; more than `records` when some cannot be opened. */
  count: number
  end: number
}

export interface SpoolDepth {
  records: number
  bytes: number
  /** When the oldest record that is not sent was written, about; undefined when all are sent. */
  oldestMs: number | undefined
}

const maxSegmentBytes = 16 * 1024 * 1024
/** Records of the last moments are sent without being read back. */
const recentBytes = 32 * 1024 * 1024
/** A segment that is sent and longer than this is begun anew, which frees the disk. */
const worthFreeingBytes = 1024 * 1024
const noteEveryMs = 1_000

/**
 * Records on disk until they are sent. A record that `append` has resolved for is there after `kill -9`; one that was sent and
 * not noted so is sent again.
 */
export class Spool {
  readonly #options: SpoolOptions
  readonly #recent = createRecentRecords(recentBytes)
  #folder = ''
  /** Undefined while the directory cannot be written. */
  #writer: SegmentWriter | undefined
  /** Oldest first; the last may be the one that is written to. */
  #segments: Segment[] = []
  #pending: { record: Buffer; resolve: () => void; reject: (error: Error) => void }[] = []
  #flushing: Promise<void> | undefined
  #inFlight: Segment | undefined
  #wake: (() => void) | undefined
  #notedMs = 0
  #touch: NodeJS.Timeout | undefined
  #problem: string | null = null

  constructor(options: SpoolOptions) {
    this.#options = options
  }

  /**
   * Makes this process's folder and adopts those whose process is gone. A directory that cannot be written is an error in the log and
   * tried again: records are lost and counted until then.
   */
  async open(): Promise<void> {
    this.#touch = setInterval(() => void this.#touchLock(), touchEveryMs).unref()
    await this.#begin()
  }

  /** Why nothing can be written, or null. */
  problem(): string | null {
    return this.#problem
  }

  async #begin(): Promise<void> {
    const { directory, name, now, log } = this.#options
    try {
      this.#folder = await createFolder(directory, name)
    } catch (error) {
      this.#problem = messageOf(error)
      log.error({ err: error, directory }, 'the spool cannot be written: calls go on, and are not recorded')
      return
    }
    this.#problem = null
    const segmentBytes = Math.min(maxSegmentBytes, Math.floor(this.#options.maxBytes / 8))
    this.#writer = createSegmentWriter(this.#folder, segmentBytes, now)
    for (const path of await adoptFolders(directory, this.#folder, now())) {
      const { segment, problem } = await inspectSegment(path)
      if (problem !== null) log.error({ segment: path, problem }, 'a spool segment cannot be read to its end')
      // How many records lie behind the damage is not known; at least one.
      if (problem === 'damaged') this.#lose('damaged', 1)
      // One of another version stays where it is, for the gateway that can read it.
      if (problem !== 'another version') this.#segments.push(segment)
    }
    if (this.depth().records > 0) log.info(this.depth(), 'records of gateways before this one are adopted')
  }

  /** Resolves once the record is in the file. Rejects when the disk does not take it. */
  append(record: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ record, resolve, reject })
      // Records that finish in the same turn of the event loop share one write; so do those that come during a write.
      this.#flushing ??= new Promise<void>((flushed) => setImmediate(() => void this.#flush().then(flushed)))
    })
  }

  /** The next records, at most `maxRecords` and about `maxBytes`; undefined when all are sent. One batch at a time. */
  async take(maxRecords: number, maxBytes: number): Promise<SpoolBatch | undefined> {
    for (let segment = this.#segments[0]; segment !== undefined; segment = this.#segments[0]) {
      if (segment.unsent === 0) {
        if (segment === this.#writer?.active()) return undefined
        this.#segments.shift()
        await removeSegment(segment)
        continue
      }
      this.#inFlight = segment
      const batch = await this.#takeFrom(segment, maxRecords, maxBytes)
      if (batch !== undefined) return batch
      this.#lose('damaged', segment.unsent)
      segment.unsent = 0
    }
    return undefined
  }

  /** The batch need not be sent again. */
  async acknowledge({ segment, count, end }: SpoolBatch): Promise<void> {
    segment.sentOffset = end
    segment.unsent -= count
    this.#inFlight = undefined
    this.#recent.forget(segment, end)
    if (segment.unsent === 0 && segment === this.#writer?.active() && this.#flushing === undefined) {
      if (segment.size > worthFreeingBytes) await this.#writer.finish()
    }
    const now = this.#options.now()
    if (now - this.#notedMs < noteEveryMs) return
    this.#notedMs = now
    await writeSentOffset(segment)
  }

  /** Resolves when there may be something to take, or when `signal` aborts. */
  async untilRecords(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.depth().records > 0) return
    const { promise, resolve } = Promise.withResolvers<undefined>()
    this.#wake = () => resolve(undefined)
    signal.addEventListener('abort', this.#wake, { once: true })
    await promise
    signal.removeEventListener('abort', this.#wake)
    this.#wake = undefined
  }

  depth(): SpoolDepth {
    const depth: SpoolDepth = { records: 0, bytes: 0, oldestMs: undefined }
    for (const segment of this.#segments) {
      depth.records += segment.unsent
      depth.bytes += segment.size
      if (segment.unsent > 0) depth.oldestMs ??= this.#recent.oldestOf(segment) ?? segment.begunMs
    }
    return depth
  }

  /** Notes what is sent and gives the folder free; what is not sent stays in it. */
  async close(): Promise<void> {
    clearInterval(this.#touch)
    await this.#flushing
    await this.#writer?.finish()
    for (const segment of this.#segments) {
      if (segment.unsent === 0) await removeSegment(segment)
      else await writeSentOffset(segment)
    }
    if (this.#writer !== undefined) await releaseFolder(this.#folder)
  }

  async #flush(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending
      this.#pending = []
      try {
        await this.#write(batch.map(({ record }) => record))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error))
        this.#lose('spool_write', batch.length)
        for (const { reject } of batch) reject(failure)
      }
    }
    this.#flushing = undefined
  }

  async #write(records: readonly Buffer[]): Promise<void> {
    if (this.#writer === undefined)
      throw new Error(`the spool cannot be written: ${this.#problem ?? 'not open'}`)
    const frames = records.map((record) => encodeFrame(record, this.#options.key))
    await this.#makeRoom(frames.reduce((sum, frame) => sum + frame.length, 0))
    const segment = await this.#writer.write(frames, (begun) => this.#segments.push(begun))
    let end = segment.size - frames.reduce((sum, frame) => sum + frame.length, 0)
    const writtenMs = this.#options.now()
    records.forEach((record, index) => {
      const start = end
      end += frames[index]?.length ?? 0
      this.#recent.add({ segment, start, end, record, writtenMs })
    })
    segment.unsent += records.length
    this.#wake?.()
  }

  /** Drops the oldest whole segments that are not being sent. */
  async #makeRoom(byteLength: number): Promise<void> {
    while (this.depth().bytes + byteLength > this.#options.maxBytes) {
      const active = this.#writer?.active()
      const victim = this.#segments.find((segment) => segment !== this.#inFlight && segment !== active)
      if (victim === undefined) throw new Error('the spool is full and all of it is being sent')
      this.#segments = this.#segments.filter((segment) => segment !== victim)
      this.#recent.forget(victim, victim.size)
      if (victim.unsent > 0) this.#lose('spool_full', victim.unsent)
      await removeSegment(victim)
    }
  }

  async #takeFrom(segment: Segment, maxRecords: number, maxBytes: number): Promise<SpoolBatch | undefined> {
    const offset = this.#recent.startOf(segment) ?? segment.size
    const found =
      this.#recent.from(segment, segment.sentOffset) ??
      (await readSegment(segment, { offset, records: maxRecords, bytes: maxBytes }, this.#options.key))
    let byteLength = 0
    const taken = []
    for (const entry of found) {
      byteLength += entry.record?.length ?? 0
      if (taken.length === maxRecords || (taken.length > 0 && byteLength > maxBytes)) break
      taken.push(entry)
    }
    const last = taken.at(-1)
    if (last === undefined) return undefined
    const records = taken.flatMap(({ record }) => (record === null ? [] : [record]))
    if (records.length < taken.length) this.#lose('unreadable', taken.length - records.length)
    return { records, segment, count: taken.length, end: last.end }
  }

  #lose(reason: LossReason, records: number): void {
    this.#options.onLost(reason, records)
    this.#options.log.error({ reason, records }, 'recorded calls are lost')
  }

  async #touchLock(): Promise<void> {
    try {
      if (this.#writer === undefined) {
        await this.#begin()
        return
      }
      await touchLock(this.#folder, this.#options.now())
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the lock of the spool folder cannot be touched')
    }
  }
}
