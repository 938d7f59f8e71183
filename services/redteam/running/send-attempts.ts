import { describeCall } from '#capture/describe-call.ts'
import type { PriceTable } from '#capture/price-table.ts'
import type { Clock } from '#runtime/clock.ts'
import { messageOf, SluiceError } from '#runtime/errors.ts'
import type { Probe } from '../probes/probe.ts'
import { makeRecord } from '../steps/make-record.ts'
import type { PlannedAttempt } from '../steps/plan-attempts.ts'
import type { AttemptStore, RecordedAttempt } from '../stores/attempt-store.ts'
import type { LogRecords } from '../stores/ingest-client.ts'
import type { RedteamRun } from '../stores/run-store.ts'
import type { Budget } from './budget.ts'
import { makeAttempt, type AttackDependencies, type MadeAttempt } from './make-attempt.ts'
import { createTogether } from './together.ts'

export interface SendDependencies extends AttackDependencies {
  run: RedteamRun
  probes: ReadonlyMap<string, Probe>
  attempts: AttemptStore
  log: LogRecords
  prices: PriceTable
  budget: Budget
  clock: Clock
  onMade: (kind: MadeAttempt['last']['kind']) => void
}

const pageSize = 500
/** Records are at most some MiB each; a batch of ingest takes 32 MiB and 1,000. */
const recordsAtOnce = 50
/** In a row: then the target is away, and going on would only make a run without answers. */
const mostFailuresInARow = 20

/** The target does not answer at all. */
export class TargetAway extends Error {}

/** Sends every attempt that nobody has begun, so many at a time, and records each. Ends early when the budget does or `signal` aborts. */
export async function sendAttempts(dependencies: SendDependencies): Promise<void> {
  const { run, probes, attempts, budget, signal, clock } = dependencies
  const begin = createTogether(async (numbers: readonly number[]) => {
    const begun = await attempts.begin(numbers)
    return numbers.map((number) => begun.has(number))
  }, pageSize)
  const record = createRecorder(dependencies)
  const next = createQueue(attempts)
  const unrecorded = new Set<Promise<unknown>>()
  // What a kill loses the answers of; at a target of 50 ms one round of recording fills one.
  const mostUnrecorded = 2 * run.options.concurrency
  let failures = 0
  let failure: Error | undefined
  const note = (error: unknown) => {
    failure ??= error instanceof Error ? error : new Error(messageOf(error))
  }

  const stop = () => signal.aborted || failure !== undefined || budget.stoppedBy() !== undefined
  async function sendSome(): Promise<void> {
    while (!stop()) {
      if (!budget.begin()) {
        // Room comes when an attempt under way is settled, or never.
        await clock.sleep(20, signal)
        continue
      }
      const attempt = await next()
      if (attempt === undefined || !(await begin(attempt.number))) {
        budget.settle(0)
        if (attempt === undefined) return
        continue
      }
      const probe = probes.get(attempt.probeId)
      if (probe === undefined) throw new Error(`the plan has a probe that is not there: ${attempt.probeId}`)
      const made = await makeAttempt(attempt, probe, dependencies)
      if (made.last.kind === 'given_up' && made.earlier.length === 0 && signal.aborted) {
        // Nothing reached the target: whoever goes on with the run makes it.
        await attempts.giveBack(attempt.number)
        return
      }
      const costUsd = costOf(made, dependencies.prices)
      budget.settle(costUsd)
      dependencies.onMade(made.last.kind)
      failures = made.last.kind === 'answered' || made.last.kind === 'failed' ? 0 : failures + 1
      if (failures >= mostFailuresInARow)
        throw new TargetAway('error' in made.last ? made.last.error : 'no answer')
      const recording = record({ attempt, made, costUsd }).finally(() => unrecorded.delete(recording))
      // What fails is thrown below; here it only must not count as unhandled.
      recording.catch(note)
      unrecorded.add(recording)
      if (unrecorded.size >= mostUnrecorded) await Promise.race(unrecorded)
    }
  }

  const senders = Array.from({ length: run.options.concurrency }, () => sendSome().catch(note))
  await Promise.all(senders)
  await Promise.allSettled(unrecorded)
  if (failure !== undefined) throw failure
}

/** One page after the other, one reader at a time. */
function createQueue(attempts: AttemptStore): () => Promise<PlannedAttempt | undefined> {
  let page: PlannedAttempt[] = []
  let after = -1
  let reading: Promise<void> | undefined
  let isEmpty = false
  const read = async () => {
    page = await attempts.planned(after, pageSize)
    after = page.at(-1)?.number ?? after
    isEmpty = page.length === 0
  }
  return async () => {
    while (page.length === 0 && !isEmpty) await (reading ??= read().finally(() => (reading = undefined)))
    return page.shift()
  }
}

interface Answered {
  attempt: PlannedAttempt
  made: MadeAttempt
  costUsd: number | null
}

const [firstRetryMs, longestRetryMs] = [200, 10_000]

/** To ingest first, then into the table: what dies between the two is found by its identifier. */
function createRecorder({
  run,
  attempts,
  log,
  clock,
  signal,
}: SendDependencies): (answered: Answered) => Promise<undefined> {
  const logPatiently: LogRecords = async (records) => {
    for (let tries = 0; ; tries++) {
      try {
        return await log(records)
      } catch (error) {
        if (!(error instanceof SluiceError) || error.retry === 'never' || signal.aborted) throw error
        await clock.sleep(Math.min(longestRetryMs, firstRetryMs * 2 ** tries), signal)
      }
    }
  }
  return createTogether(async (answered: readonly Answered[]) => {
    const refused = await logPatiently(answered.map(({ attempt, made }) => makeRecord(run, attempt, made)))
    await attempts.noteRecorded(answered.map((one, index) => recordedOf(one, refused[index] ?? null)))
    return answered.map(() => undefined)
  }, recordsAtOnce)
}

function recordedOf({ attempt, made: { last }, costUsd }: Answered, refused: string | null): RecordedAttempt {
  const { statusCode, latencyMs } =
    last.kind === 'answered' || last.kind === 'failed' ? last : { statusCode: null, latencyMs: null }
  const reason =
    last.kind === 'answered' ? null : last.kind === 'failed' ? 'target_failed' : 'target_not_reached'
  return {
    number: attempt.number,
    statusCode,
    latencyMs,
    costUsd,
    reason: refused === null ? reason : 'not_recorded',
  }
}

/** Of all exchanges of an attempt; null: of one nobody knows. What never reached the target is free. */
function costOf({ last, earlier }: MadeAttempt, prices: PriceTable): number | null {
  const exchanges = last.kind === 'answered' ? [...earlier, last] : [...earlier]
  let sum = 0
  for (const { requestBody, responseBody } of exchanges) {
    const described = describeCall({
      requestBody: JSON.parse(requestBody) as unknown,
      responseBody: JSON.parse(responseBody) as unknown,
    })
    const cost = prices.costOf(
      { model: described.model ?? 'unknown', provider: described.provider },
      {
        prompt_tokens: described.promptTokens,
        completion_tokens: described.completionTokens,
        cached_tokens: described.cachedTokens,
        reasoning_tokens: described.reasoningTokens,
      },
    )
    if (cost === null) return null
    sum += cost
  }
  return sum
}
