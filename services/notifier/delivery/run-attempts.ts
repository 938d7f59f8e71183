import type { Clock } from '#runtime/clock.ts'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import type { SendMessage } from '../sending/send-message.ts'
import { asError } from '../stores/batcher.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'
import { patienceMs, type Asker, type Attempt } from './attempt.ts'
import { InFlightBatch, type Ended, type Send } from './in-flight-batch.ts'
import type { UnderWay } from './under-way.ts'
import { attemptName, type UnwrittenAttempts } from './unwritten-attempts.ts'
import { isPlain, type WriteEnds } from './write-ends.ts'

export interface RunDependencies {
  sendMessage: SendMessage
  writeEnds: WriteEnds
  unwritten: UnwrittenAttempts
  underWay: UnderWay
  clock: Clock
}

/**
 * Called once for each attempt. With an error, its result is not stored and whatever asks for it has to ask
 * again.
 */
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
 * Results are stored after this time even while other attempts go on: a crash sends again what is not stored.
 */
const writeAfterMs = 50
/** Between two tries to store a result that no record asks for. */
const retryWriteMs = 1_000

export function createRunAttempts(dependencies: RunDependencies): RunAttempts {
  const { writeEnds, underWay, clock } = dependencies
  const send = createSend(dependencies)
  /**
   * Retries what is transient until the claim is over; from then on another notifier may send the attempt
   * anyway.
   */
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
    const endOnce = async (attempt: (typeof attempts)[number], work: Promise<void>) => {
      try {
        await work
      } catch (error) {
        onEnd(attempt, asError(error))
        return
      }
      onEnd(attempt)
    }
    const write = async (group: readonly Ended<(typeof attempts)[number]>[]) => {
      if (group.length === 0) return
      const errors = await writeEnds(group)
      for (const [index, { attempt }] of group.entries()) onEnd(attempt, errors[index] ?? undefined)
    }
    const writing: Promise<void>[] = []
    for (const withinMs of [writeAfterMs, patienceMs - writeAfterMs]) {
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

/** Runs one attempt. Rejects where its result is not stored. */
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
    // Another try at this attempt may have ended since it was asked for.
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
