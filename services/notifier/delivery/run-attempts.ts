import { PermanentError, TransientError } from '#runtime/errors.ts'
import { asError } from '../stores/batcher.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'
import { askerWaitMs, type Asker, type Attempt, type Parts } from './attempt.ts'
import { InFlightBatch, type Ended, type Send } from './in-flight-batch.ts'
import { attemptName } from './unwritten-attempts.ts'
import { isPlain, type WriteEnds } from './write-ends.ts'

export interface RunDependencies extends Pick<Parts, 'sendMessage' | 'unwritten' | 'clock'> {
  writeEnds: WriteEnds
  underWay: UnderWay
}

/** Called once for each attempt. With an error, its result is not stored and the asker has to ask again. */
export type OnEnd<A extends Attempt> = (attempt: A, error?: Error) => void

/**
 * Takes claimed attempts through sent, ended, stored and followed up; a slow one is detached in between.
 * `untilMs`: end of the claims (Unix milliseconds). Resolves once each attempt is over for its asker. Never
 * rejects.
 */
export type RunAttempts = <A extends Attempt>(
  attempts: readonly A[],
  untilMs: number,
  asker: Asker,
  onEnd: OnEnd<A>,
) => Promise<void>

/**
 * Results are stored by then, while other attempts go on: after a crash, unstored attempts are sent again.
 */
const writeAfterMs = 50
/** Between two tries to store a result that no record asks for. */
const retryWriteMs = 1_000

export function createRunAttempts(dependencies: RunDependencies): RunAttempts {
  const { writeEnds, underWay, clock } = dependencies
  const send = createSend(dependencies)
  /** Retries until the claim ends: from then on another notifier may send the attempt anyway. */
  const writeDetached = async (ended: Ended, untilMs: number): Promise<void> => {
    for (;;) {
      const [error] = await writeEnds([ended])
      if (!error) return
      if (!(error instanceof TransientError) || clock.now() >= untilMs) throw error
      await clock.sleep(retryWriteMs)
    }
  }
  const run: RunAttempts = async (attempts, untilMs, asker, onEnd) => {
    const batch = new InFlightBatch(attempts, send)
    for (const { attempt, error } of batch.unsent) onEnd(attempt, error)
    const endOnce = (attempt: (typeof attempts)[number], work: Promise<void>) =>
      work.then(
        () => onEnd(attempt),
        (error: unknown) => onEnd(attempt, asError(error)),
      )
    const write = async (group: readonly Ended<(typeof attempts)[number]>[]) => {
      if (group.length === 0) return
      const errors = await writeEnds(group)
      for (const [index, { attempt }] of group.entries()) onEnd(attempt, errors[index] ?? undefined)
    }
    const writing: Promise<void>[] = []
    for (const withinMs of [writeAfterMs, askerWaitMs - writeAfterMs]) {
      // Not awaited: a follow-up may wait for Kafka while the patience of other attempts runs out.
      const ended = await batch.takeEnded(withinMs)
      if (asker.hasRecord) {
        writing.push(write(ended.filter(isPlain)))
        for (const one of ended) if (!isPlain(one)) writing.push(write([one]))
      } else for (const one of ended) writing.push(endOnce(one.attempt, writeDetached(one, untilMs)))
    }
    for (const { attempt, ending } of batch.detach()) {
      const written = ending.then((result) => writeDetached({ attempt, result }, untilMs))
      writing.push(endOnce(attempt, asker.onSlow(attempt.delivery, written)))
    }
    await Promise.all(writing)
  }
  return (...given) => underWay.track(run(...given))
}

/** Runs one attempt. Rejects if its result is not stored. */
export async function runAttempt(
  run: RunAttempts,
  attempt: Attempt,
  untilMs: number,
  asker: Asker,
): Promise<void> {
  let failure: Error | undefined
  await run([attempt], untilMs, asker, (_attempt, error) => (failure = error))
  if (failure !== undefined) throw failure
}

function createSend({ sendMessage, unwritten, clock }: RunDependencies): Send {
  return ({ delivery, webhook, what }, onEnd) => {
    // Another try of this attempt may have ended since it was asked for.
    const sent = 'finishedAtMs' in what ? what : unwritten.find(attemptName(delivery))
    if (sent !== undefined) onEnd(sent)
    else if (what instanceof PermanentError) onEnd(refusedAttempt(what, clock.now()))
    else if (!('finishedAtMs' in what)) sendMessage(delivery, webhook, what, onEnd)
  }
}

function refusedAttempt({ message }: PermanentError, finishedAtMs: number): FinishedAttempt {
  const error = `cannot be sent: ${message}`
  return { finishedAtMs, statusCode: null, durationMs: 0, error, excerpt: null, isLast: true, wasSent: false }
}

/** Counts work that goes on without a record, so that a stopping process can wait for it. */
export class UnderWay {
  #count = 0
  #onDrained: (() => void) | undefined

  async track<T>(work: Promise<T>): Promise<T> {
    this.#count++
    try {
      return await work
    } finally {
      if (--this.#count === 0) this.#onDrained?.()
    }
  }

  /** Resolves once no work is left. */
  async drained(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#onDrained = resolve))
  }
}
