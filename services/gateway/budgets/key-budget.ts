import type { WhenUnknown } from '#schemas/key-limits.ts'
import { KeyLease, type Grant, type Report } from './key-lease.ts'

/** Sends a report. `none`: the key has no budget any more. Rejects when the API does not answer. */
export type SendReport = (report: Report, sequence: number) => Promise<Grant | 'none'>

export type Admitted = 'admitted' | 'exceeded' | 'unknown'

interface KeyBudgetOptions {
  budget: bigint
  whenUnknown: () => WhenUnknown
  send: SendReport
  now: () => number
  onFailure: (error: unknown) => void
}

interface Waiting {
  estimate: bigint
  decide: (admitted: Admitted) => void
}

/** How long a call waits at most for money that other processes hold. */
const maxWaitMs = 3_000
/** Pause between reports while calls wait. */
const retryMs = 200
/** What no call has used for this long goes back, so that a waiting call elsewhere gets it in time. */
const idleMs = 1_000
/** A lease is renewed while calls are under way. */
const renewMs = 10_000
/** After a failure calls are decided without the API for this long. */
const awayMs = 1_000

/**
 * Admits the calls of one key in one month. Those that fit into its lease wait for nothing; others wait
 * briefly while more is reserved.
 */
export class KeyBudget {
  readonly #options: KeyBudgetOptions
  readonly #lease: KeyLease
  #waiting: Waiting[] = []
  #sequence = 0
  #reporting: Promise<void> | undefined
  #isDirty = false
  #reportedMs = -Infinity
  #admittedMs = -Infinity
  #failedMs = -Infinity
  #timer: NodeJS.Timeout | undefined

  constructor(options: KeyBudgetOptions) {
    this.#options = options
    this.#lease = new KeyLease(options.budget)
  }

  get budget(): bigint {
    return this.#lease.budget
  }

  /** Whether the API knows everything, and nothing is held or waits. */
  get isIdle(): boolean {
    return this.#timer === undefined && this.#reporting === undefined && this.#waiting.length === 0
  }

  admit(estimate: bigint): Admitted | Promise<Admitted> {
    const nowMs = this.#options.now()
    if (this.#waiting.length === 0 && estimate <= this.#lease.free(nowMs)) {
      this.#begin(estimate, nowMs)
      if (this.#lease.isLow(nowMs)) this.#report()
      return 'admitted'
    }
    if (nowMs - this.#failedMs < awayMs) return this.#decideAlone(estimate, nowMs)
    // Asked lately: the API knows of nothing that could come back.
    if (this.#lease.isBeyond(estimate) && nowMs - this.#reportedMs < idleMs) return this.#refuse()
    return this.#wait(estimate)
  }

  settle(estimate: bigint, cost: bigint): void {
    this.#lease.settle(estimate, cost)
    this.#isDirty = true
    this.#pump()
    this.#schedule(idleMs)
  }

  /** Gives back what is held. */
  async stop(): Promise<void> {
    await this.#reporting
    clearTimeout(this.#timer)
    this.#admittedMs = -Infinity
    this.#report()
    await this.#reporting
    clearTimeout(this.#timer)
  }

  #begin(estimate: bigint, nowMs: number): void {
    this.#lease.admit(estimate)
    this.#admittedMs = nowMs
    this.#isDirty = true
    this.#schedule(idleMs)
  }

  #decideAlone(estimate: bigint, nowMs: number): Admitted {
    if (this.#options.whenUnknown() === 'stop') return 'unknown'
    this.#begin(estimate, nowMs)
    return 'admitted'
  }

  #refuse(): Admitted {
    this.#lease.refuse()
    this.#isDirty = true
    this.#schedule(idleMs)
    return 'exceeded'
  }

  #wait(estimate: bigint): Promise<Admitted> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        estimate,
        decide: (admitted) => {
          clearTimeout(timer)
          this.#waiting = this.#waiting.filter((other) => other !== waiting)
          resolve(admitted)
        },
      }
      const timer = setTimeout(() => {
        waiting.decide(this.#refuse())
        this.#pump()
      }, maxWaitMs)
      this.#waiting.push(waiting)
      this.#report()
    })
  }

  /** Admits waiting calls in order while they fit. */
  #pump(): void {
    const nowMs = this.#options.now()
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (first.estimate > this.#lease.free(nowMs)) return
      this.#begin(first.estimate, nowMs)
      first.decide('admitted')
    }
  }

  #report(): void {
    // One at a time; what happens meanwhile is in the next.
    this.#reporting ??= this.#sendReport().finally(() => {
      this.#reporting = undefined
      this.#schedule(this.#waiting.length > 0 ? retryMs : idleMs)
    })
  }

  async #sendReport(): Promise<void> {
    const { send, now, onFailure } = this.#options
    // Calls of one turn of the event loop share a report.
    await Promise.resolve()
    const sentMs = now()
    const keeps = sentMs - this.#admittedMs < idleMs || this.#waiting.length > 0
    const estimates = this.#waiting.map(({ estimate }) => estimate)
    const report = this.#lease.report(estimates, sentMs, { keeps })
    this.#isDirty = false
    this.#sequence += 1
    try {
      const grant = await send(report, this.#sequence)
      this.#reportedMs = sentMs
      this.#failedMs = -Infinity
      if (grant === 'none') this.#admitAll()
      else this.#granted(grant, sentMs)
    } catch (error) {
      onFailure(error)
      this.#isDirty = true
      this.#failedMs = now()
      for (const { estimate, decide } of [...this.#waiting]) decide(this.#decideAlone(estimate, now()))
    }
  }

  #granted(grant: Grant, sentMs: number): void {
    this.#lease.grant(grant, sentMs)
    this.#pump()
    for (const { estimate, decide } of [...this.#waiting])
      if (this.#lease.isBeyond(estimate)) decide(this.#refuse())
    this.#pump()
  }

  /** The key's budget was taken away since. */
  #admitAll(): void {
    for (const { estimate, decide } of [...this.#waiting]) {
      this.#begin(estimate, this.#options.now())
      decide('admitted')
    }
  }

  /** Looks again later, while there is something to report, to renew or to return. */
  #schedule(delayMs: number): void {
    if (this.#timer !== undefined && delayMs >= idleMs) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const nowMs = this.#options.now()
    const hasMore = this.#isDirty || this.#lease.underWay > 0n || this.#lease.free(nowMs) > 0n
    if (hasMore || this.#waiting.length > 0) this.#timer = setTimeout(() => this.#tick(), delayMs).unref()
  }

  #tick(): void {
    this.#timer = undefined
    const nowMs = this.#options.now()
    const isUnused = nowMs - this.#admittedMs >= idleMs && this.#lease.free(nowMs) > 0n
    const isOld = nowMs - this.#reportedMs >= renewMs
    if (this.#isDirty || isUnused || isOld || this.#waiting.length > 0) this.#report()
    else this.#schedule(idleMs)
  }
}
