import CircuitBreaker from 'opossum'
import type { Clock } from '#runtime/clock.ts'
import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import { fieldAt, parseJson, textOf } from '#capture/json.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { MaskRecords } from '../masking/mask-records.ts'
import type { SpoolBatch } from '../spool/read-batch.ts'
import type { Spool } from '../spool/spool.ts'
import { NotTaken, type PostRecords, type Verdict } from './post-records.ts'
import type { KeptRecords } from './kept-records.ts'

export interface SenderDependencies {
  spool: Spool
  post: PostRecords
  /** What leaves the process of each record, in order. Absent: all of it. */
  mask?: MaskRecords
  /** Whether this gateway has a credential for the record's project. */
  isSendable: (record: Buffer) => boolean
  /** Records that will never be accepted, kept for inspection. */
  rejected: KeptRecords
  /** Records that need another credential; a gateway that has it picks them up. */
  parked: KeptRecords
  metrics: GatewayMetrics
  log: Log
  clock: Clock
}

type Refusal = Extract<Verdict, { kind: 'refused' }>

/** Ingest accepts 1,000 records and 32 MiB at once; a record is at most 10 MiB. */
const batchRecords = 500
const batchBytes = 8 * 1024 * 1024
/** Batching delay. One request for many records costs a fraction of one for each. */
const batchDelayMs = 20
const minWaitMs = 250
const maxWaitMs = 10_000
/** Maximum remembered verdicts of abandoned batches, at 100 bytes each. */
const maxSettled = 10_000

/** Sends records from the spool to the API service, oldest first, retrying until they are accepted. */
export class Sender {
  readonly #dependencies: SenderDependencies
  readonly #breaker: CircuitBreaker<[readonly Buffer[]], Verdict[]>
  readonly #stopping = new AbortController()
  readonly #givingUp = new AbortController()
  /** Records of abandoned batches that already have a verdict, by identity: they are not sent again. */
  readonly #settled = new Set<string>()
  #problem: string | null = null
  /** Retry-After of the last attempt. */
  #retryAfterMs = 0

  constructor(dependencies: SenderDependencies) {
    this.#dependencies = dependencies
    this.#breaker = new CircuitBreaker(dependencies.post, {
      timeout: false,
      volumeThreshold: 3,
      errorThresholdPercentage: 50,
      resetTimeout: 5_000,
    })
  }

  /** Why records are not being accepted; null while they are. */
  problem(): string | null {
    return this.#problem
  }

  /** Sends until stopped. Rejects when the spool cannot be read or written. */
  async run(): Promise<void> {
    const { spool, rejected, parked, metrics, clock } = this.#dependencies
    await this.#resumeParked()
    while (!this.#givingUp.signal.aborted) {
      if (spool.isDue()) await Promise.all([rejected.eraseAged(), parked.eraseAged()])
      const batch = await spool.take(batchRecords, batchBytes)
      metrics.spool(spool.depth(), clock.now())
      if (batch !== undefined) {
        const outcome = await this.#deliver(batch)
        if (outcome === 'stopping') return
        if (outcome === 'delivered') await spool.acknowledge(batch)
      } else if (this.#stopping.signal.aborted) return
      else {
        await spool.untilRecords(this.#stopping.signal)
        await clock.sleep(batchDelayMs, this.#stopping.signal)
      }
    }
  }

  /** `run` ends once the spool is empty, sending fails, or `forMs` have passed. */
  stop(forMs: number): void {
    this.#stopping.abort()
    this.#breaker.shutdown()
    setTimeout(() => this.#givingUp.abort(), forMs).unref()
  }

  /** Retries until every record has a verdict, or the spool's maintenance is due. */
  async #deliver(batch: SpoolBatch): Promise<'delivered' | 'given up' | 'stopping'> {
    const { clock, spool } = this.#dependencies
    let left: readonly Buffer[] = batch.records
    if (this.#settled.size > 0) left = left.filter((record) => !this.#settled.has(identityOf(record)))
    for (let attempt = 0; left.length > 0; attempt++) {
      if (attempt > 0) await clock.sleep(Math.max(waitMs(attempt), this.#retryAfterMs), this.#stopping.signal)
      // A stopping gateway does not wait for a service that is down: the records are on disk.
      if (this.#givingUp.signal.aborted || (attempt > 0 && this.#stopping.signal.aborted)) return 'stopping'
      if (attempt > 0 && spool.isDue()) return 'given up'
      left = await this.#attempt(left, batch.isEphemeral)
    }
    if (this.#settled.size > 0) for (const record of batch.records) this.#settled.delete(identityOf(record))
    return 'delivered'
  }

  /** Posts once and returns the records still to be sent. */
  async #attempt(records: readonly Buffer[], isEphemeral: boolean): Promise<readonly Buffer[]> {
    const { spool, metrics, log, clock, mask } = this.#dependencies
    let verdicts: Verdict[]
    const sent = mask === undefined ? records : await mask(records)
    this.#retryAfterMs = 0
    try {
      // A breaker that is shut down rejects everything; a stopping gateway makes one more attempt without it.
      verdicts = await (this.#stopping.signal.aborted
        ? this.#dependencies.post(sent)
        : this.#breaker.fire(sent))
    } catch (error) {
      if (this.#problem === null)
        log.warn({ err: error }, 'records stay in the spool until the API service takes them')
      // Keep the original cause rather than "breaker is open".
      if (this.#problem === null || !this.#breaker.opened) this.#problem = messageOf(error)
      if (error instanceof NotTaken) this.#retryAfterMs = error.retryAfterMs
      metrics.deliveryFailed()
      metrics.spool(spool.depth(), clock.now())
      return records
    }
    const later: Buffer[] = []
    for (const [index, record] of records.entries()) {
      const verdict = verdicts[index] ?? { kind: 'later' }
      if (verdict.kind === 'later') later.push(record)
      else {
        metrics.delivered(verdict.kind)
        const kept = sent[index] ?? record
        if (verdict.kind === 'refused') await this.#reject(kept, verdict, isEphemeral)
        if (verdict.kind === 'unsendable') await this.#park(kept, isEphemeral)
      }
    }
    if (later.length > 0) this.#settle(records, later)
    if (later.length === 0 && this.#problem !== null) log.info('the API service accepts records again')
    this.#problem = later.length === 0 ? null : 'the API service cannot take some records now'
    return later
  }

  /** The spool returns whole batches: an abandoned one comes back with records that already have verdicts. */
  #settle(records: readonly Buffer[], later: readonly Buffer[]): void {
    const left = new Set(later)
    for (const record of records) if (!left.has(record)) this.#settled.add(identityOf(record))
    for (const identity of this.#settled) {
      if (this.#settled.size <= maxSettled) return
      this.#settled.delete(identity)
    }
  }

  /** Puts back into the spool what an earlier gateway had no credential for. */
  async #resumeParked(): Promise<void> {
    const { spool, parked, isSendable } = this.#dependencies
    await parked.release(async (record, isEphemeral) => {
      if (!isSendable(record)) return false
      await spool.append(record, isEphemeral)
      return true
    })
  }

  async #park(record: Buffer, isEphemeral: boolean): Promise<void> {
    const { log, parked } = this.#dependencies
    const id = idOf(record)
    log.error(
      { request_id: id },
      'no credential for the project of a record: it is parked until a gateway has INTERNAL_API_SECRET, or the SERVICE_API_KEY of that project',
    )
    await this.#keep(id, parked.keep(record, id, isEphemeral))
  }

  async #reject(record: Buffer, { status, detail }: Refusal, isEphemeral: boolean): Promise<void> {
    const { log, rejected } = this.#dependencies
    const id = idOf(record)
    log.error({ request_id: id, status, detail }, 'the API service refused a record')
    await this.#keep(id, rejected.keep(record, id, isEphemeral))
  }

  /** A disk that rejects one record must not stop the others. */
  async #keep(id: string, kept: Promise<void>): Promise<void> {
    const { log, metrics } = this.#dependencies
    try {
      await kept
    } catch (error) {
      metrics.lost('spool_write', 1)
      log.error(
        { err: error, request_id: id },
        'a record that cannot be sent could not be written to disk either: it is lost',
      )
    }
  }
}

function idOf(record: Buffer): string {
  return textOf(fieldAt(parseJson(record.toString('utf8')), 'id')) ?? 'unknown'
}

/** Record and project identifiers. They are at the start, also after the bodies were stripped. */
function identityOf(record: Buffer): string {
  const head = record.toString('latin1', 0, 200)
  return /^\{"id":"[^"]{1,64}"(?:,"project_id":"[^"]{1,64}")?/.exec(head)?.[0] ?? head
}

/** Exponential backoff with jitter, so that gateways do not all return at once. */
function waitMs(attempt: number): number {
  const longest = Math.min(maxWaitMs, minWaitMs * 2 ** (attempt - 1))
  return longest * (0.5 + Math.random() / 2)
}
