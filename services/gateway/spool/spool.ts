import { adoptSegments, createFolder, budgetFrom, type OwnFolder } from './adopt-folders.ts'
import { createDiskSpace, type DiskSpace } from './disk-space.ts'
import { createSentNotes } from './note-sent.ts'
import type { LossReason, SpoolOptions } from './spool-options.ts'
import { readBatch, type SpoolBatch } from './read-batch.ts'
import { createRecentRecords } from './recent-records.ts'
import { eraseSegment } from './erase-bodies.ts'
import { createFileAges, type FileAges } from './file-ages.ts'
import { createRecordWriter } from './record-writer.ts'
import { removeSegment, writeSentOffset, type Segment } from './segment.ts'
import { releaseFolder, touchEveryMs, touchLock } from './spool-lock.ts'
import { createSpoolProblems, type SpoolProblems } from './spool-problems.ts'
import { createSpoolWriters, type SpoolWriters } from './spool-writers.ts'
import {
  createWaitingSegments,
  foreignProblem,
  type SpoolDepth,
  type WaitingSegments,
} from './waiting-segments.ts'
import { createWriteQueue, type WriteQueue } from './write-queue.ts'

const maxSegmentBytes = 16 * 1024 * 1024
/** A full spool drops one part of this many at a time. */
const segmentParts = 8
/** Recent records are sent from memory. */
const recentBytes = 32 * 1024 * 1024
/** A longer segment is closed once it is sent, which frees its disk space. */
const worthFreeingBytes = 1024 * 1024

/**
 * Records on disk until they are sent. Once `append` resolves, a record survives `kill -9`. A record that was
 * sent but not noted is sent again.
 */
export class Spool {
  readonly #options: SpoolOptions
  readonly #recent = createRecentRecords(recentBytes)
  readonly #notes: ReturnType<typeof createSentNotes>
  readonly #problems: SpoolProblems
  readonly #ages: FileAges
  #own: OwnFolder = { folder: '', left: [] }
  /** Undefined while the directory cannot be written. */
  #writers: SpoolWriters | undefined
  readonly #segments: WaitingSegments
  readonly #space: DiskSpace
  readonly #queue: WriteQueue
  #wake: (() => void) | undefined
  #touch: NodeJS.Timeout | undefined
  #isDue = false
  #isTicking = false

  constructor(options: SpoolOptions) {
    this.#options = options
    this.#notes = createSentNotes(options)
    this.#ages = createFileAges(options.now)
    this.#problems = createSpoolProblems(options.log)
    const isActive = (segment: Segment) => this.#isActive(segment)
    this.#segments = createWaitingSegments({ recent: this.#recent, problems: this.#problems, isActive })
    this.#space = createDiskSpace({ onLimit: () => undefined, ...options })
    const write = createRecordWriter({
      ...options,
      segments: this.#segments,
      recent: this.#recent,
      space: this.#space,
      problems: this.#problems,
      writers: () => this.#writers,
      lose: (reason, records) => this.#lose(reason, records),
    })
    const writeAndWake = async (records: readonly Buffer[], isEphemeral: boolean) => {
      try {
        await write(records, isEphemeral)
      } finally {
        this.#wake?.()
      }
    }
    this.#queue = createWriteQueue(writeAndWake, {
      maxBytes: options.maxWaitingBytes,
      onRefused: (error) => {
        this.#problems.wrote(error)
        this.#lose('spool_write', 1)
      },
    })
  }

  /**
   * Creates this process's folder and adopts abandoned ones. If the directory cannot be written, that is
   * logged and retried; until then records are lost and counted.
   */
  async open(): Promise<void> {
    await this.#begin()
    this.#touch = setInterval(() => void this.#tick(), this.#options.tickMs ?? touchEveryMs).unref()
  }

  /** Why something cannot be written, read or sent; null: no problem. */
  problem(): string | null {
    return this.#problems.problem() ?? foreignProblem(this.depth())
  }

  async #begin(): Promise<void> {
    const { directory, name, now, log } = this.#options
    try {
      this.#own = await createFolder(directory, name, now())
    } catch (error) {
      this.#problems.opened(error)
      log.error(
        { err: error, directory },
        'the spool cannot be written: calls are forwarded but not recorded',
      )
      return
    }
    this.#problems.opened(null)
    await this.#space.measure(this.depth().bytes)
    const maxBytes = () => Math.min(maxSegmentBytes, Math.floor(this.#space.limit() / segmentParts))
    this.#writers = createSpoolWriters(this.#own.folder, maxBytes, now)
    await this.#adopt()
  }

  #adopt(): Promise<void> {
    return this.#problems.attempt('folders of ended gateways cannot be adopted', () => this.#adoptAll())
  }

  /** Adopts abandoned folders: all that fit, or one if the spool is empty. */
  async #adoptAll(): Promise<void> {
    const { directory, maxBytes, log } = this.#options
    const usedBytes = this.depth().records === 0 ? 0 : this.depth().bytes
    const options = { ...this.#options, ages: this.#ages, reserve: budgetFrom(usedBytes, maxBytes) }
    const { segments, damaged, aside, failed } = await adoptSegments(directory, this.#own, options)
    this.#problems.setAside(aside)
    // The number of records after the damage is unknown; at least one.
    if (damaged > 0) this.#lose('damaged', damaged)
    if (segments.length > 0) {
      this.#segments.adopt(segments)
      this.#space.adopt(segments.reduce((sum, { size }) => sum + size, 0))
      log.info({ segments: segments.length, ...this.depth() }, 'adopted the records of ended gateways')
    }
    if (failed !== undefined) throw failed
  }

  /**
   * Resolves once the record is in the file. Rejects when the disk rejects it or too much is waiting; with
   * `PartlyWritten` when the disk accepted some records of the same write.
   */
  append(record: Buffer, isEphemeral = false): Promise<void> {
    return this.#queue.add(record, isEphemeral)
  }

  /**
   * Returns the next records, up to the limits or one frame; undefined when all are sent. One batch at a
   * time. If it is not acknowledged, the next call takes another segment where there is one.
   */
  async take(maxRecords: number, maxBytes: number): Promise<SpoolBatch | undefined> {
    if (this.#isDue) await this.#maintain()
    for (;;) {
      const segment = this.#segments.next()
      if (segment === undefined) return undefined
      if (segment.unsent === 0) {
        await this.#segments.remove(segment)
        continue
      }
      this.#segments.hold(segment, true)
      const batch = await this.#read(segment, maxRecords, maxBytes)
      if (typeof batch === 'object') {
        const unreadable = batch.count - batch.records.length
        if (unreadable > 0) this.#lose('unreadable', unreadable, segment)
        return batch
      }
      this.#segments.release()
      if (batch === 'later') continue
      this.#lose('damaged', segment.unsent, segment)
      segment.unsent = 0
    }
  }

  /** Whether `take` has maintenance to do: give up a batch that cannot be sent, and take it again. */
  isDue(): boolean {
    return this.#isDue
  }

  /** Marks the batch as sent. */
  async acknowledge({ segment, count, end }: SpoolBatch): Promise<void> {
    segment.sentOffset = end
    segment.unsent -= count
    this.#segments.release()
    this.#recent.forget(segment, end)
    const isFree = segment.unsent === 0 && segment.size > worthFreeingBytes
    if (isFree && this.#isActive(segment) && this.#queue.writing() === undefined)
      await this.#problems.attempt('a segment cannot be closed', async () => this.#writers?.finish(segment))
    await this.#notes.note(segment)
  }

  /** Resolves when there may be records to take, or when `signal` aborts. */
  async untilRecords(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isDue || this.#segments.hasTakeable()) return
    const { promise, resolve } = Promise.withResolvers<undefined>()
    this.#wake = () => resolve(undefined)
    signal.addEventListener('abort', this.#wake, { once: true })
    await promise
    signal.removeEventListener('abort', this.#wake)
    this.#wake = undefined
  }

  depth(): SpoolDepth {
    return { ...this.#segments.depth(), asideBytes: this.#problems.asideBytes() }
  }

  /** Notes what is sent and releases the folder; unsent records stay in it. */
  async close(): Promise<void> {
    clearInterval(this.#touch)
    await this.#queue.writing()
    const problems = this.#problems
    await problems.attempt('a segment cannot be closed', async () => this.#writers?.finishAll())
    for (const segment of this.#segments.all()) {
      await problems.attempt('the sent offset cannot be noted', () =>
        segment.unsent === 0 ? removeSegment(segment) : writeSentOffset(segment),
      )
    }
    if (this.#writers !== undefined)
      await problems.attempt('the spool folder cannot be released', () => releaseFolder(this.#own.folder))
  }

  async #read(segment: Segment, records: number, bytes: number): Promise<SpoolBatch | 'later' | undefined> {
    try {
      const batch = await readBatch(segment, this.#recent, { records, bytes }, this.#options.key)
      this.#problems.read(segment)
      return batch
    } catch (error) {
      return this.#problems.unread(segment, error) === 'later' ? 'later' : undefined
    }
  }

  #lose(reason: LossReason, records: number, segment?: Segment): void {
    this.#options.onLost(reason, records)
    this.#problems.lost(reason, records, segment)
  }

  #isActive(segment: Segment): boolean {
    return this.#writers?.isActive(segment) === true
  }

  /** Runs between batches, so that no segment changes while it is being sent. */
  async #maintain(): Promise<void> {
    this.#isDue = false
    this.#segments.nextTurn()
    const { now } = this.#options
    const problems = this.#problems
    problems.retry()
    await this.#notes.catchUp(this.#segments.all())
    if (this.#queue.writing() === undefined)
      await problems.attempt('a segment cannot be closed', async () => this.#writers?.finishAged(now()))
    for (const segment of this.#segments.dueEphemeral(now()))
      await problems.attempt('bodies due for erasure cannot be erased', () => this.#erase(segment))
    await this.#adopt()
    await this.#space.measure(this.depth().bytes)
  }

  async #erase(segment: Segment): Promise<void> {
    const { key, stripBodies, log } = this.#options
    this.#segments.hold(segment, false)
    this.#recent.forget(segment, segment.size)
    const unreadable = await eraseSegment(segment, key, stripBodies)
    if (unreadable > 0) this.#lose('unreadable', unreadable, segment)
    log.warn({ records: segment.unsent }, 'erased the bodies of zero-retention records')
  }

  async #tick(): Promise<void> {
    // One at a time, however slow the disk is.
    if (this.#isTicking) return
    this.#isTicking = true
    try {
      if (this.#writers === undefined) await this.#begin()
      else await touchLock(this.#own.folder, this.#options.now())
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the lock of the spool folder cannot be updated')
    }
    this.#isTicking = false
    this.#isDue = true
    this.#wake?.()
  }
}
