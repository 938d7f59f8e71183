import { messageOf } from '#runtime/errors.ts'
import { adoptSegments, createFolder, type OwnFolder } from './adopt-folders.ts'
import { createSentNotes } from './note-sent.ts'
import type { LossReason, SpoolOptions } from './spool-options.ts'
import { createRecentRecords } from './recent-records.ts'
import { eraseAfterMs, eraseSegment } from './erase-bodies.ts'
import { encodeFrame } from './segment-format.ts'
import type { SegmentWriter } from './segment-writer.ts'
import { isEphemeralPath, readSegment, removeSegment, writeSentOffset, type Segment } from './segment.ts'
import { releaseFolder, touchEveryMs, touchLock } from './spool-lock.ts'
import { createSpoolWriters, type SpoolWriters } from './spool-writers.ts'
import { createWriteQueue } from './write-queue.ts'

/** Records that are next to be sent, all of one segment, oldest first. */
export interface SpoolBatch {
  records: readonly Buffer[]
  segment: Segment
  /** Of projects that keep no content. */
  isEphemeral: boolean
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

/**
 * Records on disk until they are sent. A record that `append` has resolved for is there after `kill -9`; one that was sent and
 * not noted so is sent again.
 */
export class Spool {
  readonly #options: SpoolOptions
  readonly #recent = createRecentRecords(recentBytes)
  readonly #note: (segment: Segment) => Promise<void>
  #own: OwnFolder = { folder: '', left: [] }
  /** Undefined while the directory cannot be written. */
  #writers: SpoolWriters | undefined
  /** Oldest first; the last ones may be those that are written to. */
  #segments: Segment[] = []
  readonly #queue = createWriteQueue((records, isEphemeral) => this.#write(records, isEphemeral))
  #inFlight: Segment | undefined
  #wake: (() => void) | undefined
  #touch: NodeJS.Timeout | undefined
  #problem: string | null = null
  #isDue = false
  #setAside = 0

  constructor(options: SpoolOptions) {
    this.#options = options
    this.#note = createSentNotes(options)
  }

  /**
   * Makes this process's folder and adopts those whose process is gone. A directory that cannot be written is an error in the log and
   * tried again: records are lost and counted until then.
   */
  async open(): Promise<void> {
    this.#touch = setInterval(() => void this.#tick(), this.#options.tickMs ?? touchEveryMs).unref()
    await this.#begin()
  }

  /** Why nothing can be written, or what cannot be sent; null: all is well. */
  problem(): string | null {
    const aside =
      this.#setAside === 0 ? null : `${this.#setAside} segments of another version lie in set-aside/`
    return this.#problem ?? aside
  }

  async #begin(): Promise<void> {
    const { directory, name, now, log } = this.#options
    try {
      this.#own = await createFolder(directory, name, now())
    } catch (error) {
      this.#problem = messageOf(error)
      log.error({ err: error, directory }, 'the spool cannot be written: calls go on, and are not recorded')
      return
    }
    this.#problem = null
    const maxBytes = Math.min(maxSegmentBytes, Math.floor(this.#options.maxBytes / 8))
    this.#writers = createSpoolWriters(this.#own.folder, maxBytes, now)
    await this.#adopt()
  }

  /** Takes over what processes left that are gone: all that fits, or one folder when there is nothing here. */
  async #adopt(): Promise<void> {
    const { directory, maxBytes, now, log } = this.#options
    let own = this.depth().records === 0 ? 0 : this.depth().bytes
    const hasRoom = (byteLength: number) => {
      if (own > 0 && own + byteLength > maxBytes) return false
      own += byteLength
      return true
    }
    const options = { now, hasRoom, log }
    const { segments: adopted, damaged, setAside } = await adoptSegments(directory, this.#own, options)
    this.#setAside = setAside
    // How many records lie behind the damage is not known; at least one.
    if (damaged > 0) this.#lose('damaged', damaged)
    if (adopted.length === 0) return
    this.#segments.unshift(...adopted)
    log.info({ segments: adopted.length, ...this.depth() }, 'records of gateways that are gone are adopted')
  }

  /** Resolves once the record is in the file. Rejects when the disk does not take it. */
  append(record: Buffer, isEphemeral = false): Promise<void> {
    return this.#queue.add(record, isEphemeral)
  }

  /** The next records, at most `maxRecords` and about `maxBytes`; undefined when all are sent. One batch at a time. */
  async take(maxRecords: number, maxBytes: number): Promise<SpoolBatch | undefined> {
    if (this.#isDue) await this.#keepHouse()
    for (;;) {
      const segment = this.#segments.find((each) => each.unsent > 0 || !this.#isActive(each))
      if (segment === undefined) return undefined
      if (segment.unsent === 0) {
        await this.#remove(segment)
        continue
      }
      this.#inFlight = segment
      const batch = await this.#takeFrom(segment, maxRecords, maxBytes)
      if (batch !== undefined) return batch
      this.#lose('damaged', segment.unsent)
      segment.unsent = 0
    }
  }

  /** Whether `take` has more to do than to take: a batch that cannot be sent is to be given up for it, and taken anew. */
  isDue(): boolean {
    return this.#isDue
  }

  /** The batch need not be sent again. */
  async acknowledge({ segment, count, end }: SpoolBatch): Promise<void> {
    segment.sentOffset = end
    segment.unsent -= count
    this.#inFlight = undefined
    this.#recent.forget(segment, end)
    const isFree = segment.unsent === 0 && segment.size > worthFreeingBytes
    if (isFree && this.#isActive(segment) && this.#queue.writing() === undefined)
      await this.#writers?.finish(segment)
    await this.#note(segment)
  }

  /** Resolves when there may be something to take, or when `signal` aborts. */
  async untilRecords(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isDue || this.depth().records > 0) return
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
    await this.#queue.writing()
    await this.#writers?.finishAll()
    for (const segment of this.#segments) {
      if (segment.unsent === 0) await removeSegment(segment)
      else await writeSentOffset(segment)
    }
    if (this.#writers !== undefined) await releaseFolder(this.#own.folder)
  }

  async #write(records: readonly Buffer[], isEphemeral: boolean): Promise<void> {
    try {
      await this.#writeTo(this.#writers?.of(isEphemeral), records)
    } catch (error) {
      this.#lose('spool_write', records.length)
      throw error
    }
  }

  async #writeTo(writer: SegmentWriter | undefined, records: readonly Buffer[]): Promise<void> {
    if (writer === undefined) throw new Error(`the spool cannot be written: ${this.#problem ?? 'not open'}`)
    const frames = records.map((record) => encodeFrame(record, this.#options.key))
    await this.#makeRoom(frames.reduce((sum, frame) => sum + frame.length, 0))
    const segment = await writer.write(frames, (begun) => this.#segments.push(begun))
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
      const victim = this.#segments.find((segment) => segment !== this.#inFlight && !this.#isActive(segment))
      if (victim === undefined) throw new Error('the spool is full and all of it is being sent')
      if (victim.unsent > 0) this.#lose('spool_full', victim.unsent)
      await this.#remove(victim)
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
    const isEphemeral = isEphemeralPath(segment.path)
    return { records, segment, isEphemeral, count: taken.length, end: last.end }
  }

  #lose(reason: LossReason, records: number): void {
    this.#options.onLost(reason, records)
    this.#options.log.error({ reason, records }, 'recorded calls are lost')
  }

  #isActive(segment: Segment): boolean {
    return this.#writers?.isActive(segment) === true
  }

  async #remove(segment: Segment): Promise<void> {
    this.#segments = this.#segments.filter((other) => other !== segment)
    this.#recent.forget(segment, segment.size)
    await removeSegment(segment)
  }

  /** Between two batches, so that nothing is moved under one that is being sent. */
  async #keepHouse(): Promise<void> {
    this.#isDue = false
    const { log, now } = this.#options
    const isDue = (segment: Segment) =>
      isEphemeralPath(segment.path) && !this.#isActive(segment) && now() - segment.begunMs >= eraseAfterMs
    try {
      if (this.#queue.writing() === undefined) await this.#writers?.finishAged(now())
      for (const segment of this.#segments.filter(isDue)) await this.#erase(segment)
      await this.#adopt()
    } catch (error) {
      log.error({ err: error }, 'the spool cannot be kept in order; it is tried again')
    }
  }

  async #erase(segment: Segment): Promise<void> {
    const { key, stripBodies, log } = this.#options
    this.#inFlight = segment
    this.#recent.forget(segment, segment.size)
    const unreadable = await eraseSegment(segment, key, stripBodies)
    if (unreadable > 0) this.#lose('unreadable', unreadable)
    log.warn({ records: segment.unsent }, 'records of projects that keep no content lost their bodies')
  }

  async #tick(): Promise<void> {
    try {
      if (this.#writers === undefined) await this.#begin()
      else await touchLock(this.#own.folder, this.#options.now())
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the lock of the spool folder cannot be touched')
    }
    this.#isDue = true
    this.#wake?.()
  }
}
