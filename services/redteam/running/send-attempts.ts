import { costOfCall, countsOf } from '#capture/call-cost.ts'
import { describeCall } from '#capture/describe-call.ts'
import type { PriceTable } from '#capture/price-table.ts'
import type { Clock } from '#runtime/clock.ts'
import { messageOf, PermanentError } from '#runtime/errors.ts'
import { idTimeMs } from '#schemas/ids.ts'
import type { Probe } from '../probes/probe.ts'
import { makeRecords } from '../steps/make-records.ts'
import type { PlannedAttempt } from '../steps/plan-attempts.ts'
import type { AttemptStore, RecordedAttempt } from '../stores/attempt-store.ts'
import type { LogRecords } from '../stores/ingest-client.ts'
import type { RedteamRun } from '../stores/run-store.ts'
import { beginAhead } from './begin-ahead.ts'
import type { Budget } from './budget.ts'
import { NobodyThere } from './check-target.ts'
import { makeAttempt, type AttackDependencies, type MadeAttempt } from './make-attempt.ts'
import { createPatience, type Patiently } from './patience.ts'
import { createTogether } from './together.ts'
import { watchRefusals } from './watch-refusals.ts'

/**
 * Result of an attempt at the target. `attacker_failed`: it ended early because the attacking model failed.
 */
export type AttackOutcome = MadeAttempt['last']['kind'] | 'attacker_failed'

export interface SendDependencies extends AttackDependencies {
  run: RedteamRun
  probes: ReadonlyMap<string, Probe>
  attempts: AttemptStore
  log: LogRecords
  prices: PriceTable
  budget: Budget
  clock: Clock
  /** Throws NobodyThere when the target answers no harmless call; undefined: no check. */
  checkTarget: (() => Promise<void>) | undefined
  onMade: (outcome: AttackOutcome) => void
}

/**
 * Records are at most some MiB each; a batch of ingest takes 32 MiB and 1,000. Two batches are under way, so
 * ingest works while Postgres does. A batch waits for half of the senders, or 30 ms. At 64 senders, batches
 * of 30 instead of 10 save a fifth of the work of this process, the API and Postgres.
 */
const recording = { most: 100, atOnce: 2, withinMs: 30 }
/** Failures in a row after which the attacking model counts as away: further attacks would be incomplete. */
const maxFailuresInARow = 20

/**
 * Sends all attempts not yet begun, concurrently, and records each. Ends early with the budget or when
 * `signal` aborts.
 */
export async function sendAttempts(dependencies: SendDependencies): Promise<void> {
  const { run, attempts, budget, clock, signal } = dependencies
  const patiently = createPatience({ clock, signal })
  const release: AttemptStore['release'] = (numbers) => patiently(() => attempts.release(numbers))
  const begun = beginAhead({ ...attempts, release }, run.options.concurrency)
  const record = createRecorder({ ...dependencies, patiently })
  const unrecorded = new Set<Promise<unknown>>()
  let attackerFailures = 0
  const { checkTarget } = dependencies
  const refusals = checkTarget && watchRefusals(checkTarget, run.probesDigest === null)
  let failure: Error | undefined
  const isOver = () => signal.aborted || failure !== undefined || budget.stoppedBy() !== undefined
  // A permanent error ends all: none waits for room that will not come.
  const end = (error?: unknown) => {
    if (error !== undefined) failure ??= error instanceof Error ? error : new Error(messageOf(error))
    begun.stop()
  }

  /** Returns whether there may be more to do. */
  async function sendNext(): Promise<boolean> {
    const attempt = await begun.next()
    if (attempt === undefined) return false
    // Checked before each: a run may wait for its target for days.
    const tooOld = runTooOld(run.id, clock)
    if (tooOld !== undefined) end(tooOld)
    const made = (await untilBudgeted(dependencies, isOver)) ? await make(attempt, dependencies) : undefined
    if (made === undefined) {
      // Nothing reached the target: the next process makes this attempt.
      await release([attempt.number])
      begun.ended()
      return false
    }
    dependencies.onMade(made.made.attackerError === undefined ? made.made.last.kind : 'attacker_failed')
    const recorded = record(made).then(() => begun.ended(), end)
    unrecorded.add(recorded)
    void recorded.finally(() => unrecorded.delete(recorded))
    // The attempt that exceeds the limit is recorded too.
    attackerFailures = countFailures(attackerFailures, attempt, made.made)
    await refusals?.note(made.made)
    return !isOver()
  }
  async function sendSome(): Promise<void> {
    while (await sendNext());
    end()
  }

  const onAbort = () => end()
  signal.addEventListener('abort', onAbort)
  await Promise.all(Array.from({ length: run.options.concurrency }, () => sendSome().catch(end)))
  await Promise.all(unrecorded)
  if (!isOver()) await refusals?.end().catch(end)
  await begun.releaseRest().catch(end)
  signal.removeEventListener('abort', onAbort)
  if (failure !== undefined) throw failure
}

/** Requests of its attempts have the time of the run, and ingest takes those of seven days. */
const oldestRunMs = 6.5 * 86_400_000

/** Why ingest would refuse the run's records for their age; undefined: it takes them. */
export function runTooOld(runId: string, clock: Clock): PermanentError | undefined {
  if (clock.now() - idTimeMs(runId) <= oldestRunMs) return undefined
  return new PermanentError(
    'RUN_TOO_OLD',
    'the run was ordered over six days ago, and what it sends could not be recorded any more: start another one',
  )
}

/** Throws NobodyThere after too many in a row. Only adaptive attempts use the attacking model. */
function countFailures(
  before: number,
  { transformation }: PlannedAttempt,
  { attackerError }: MadeAttempt,
): number {
  if (transformation !== 'adaptive') return before
  if (attackerError === undefined) return 0
  if (before + 1 >= maxFailuresInARow)
    throw new NobodyThere(`the model that attacks (REDTEAM_ATTACKER_URL) has failed: ${attackerError}`)
  return before + 1
}

/** Waits for budget: it comes when an attempt under way is settled, or never (false). */
async function untilBudgeted({ budget, clock, signal }: SendDependencies, isOver: () => boolean) {
  while (!isOver()) {
    if (budget.begin()) return true
    await clock.sleep(20, signal)
  }
  return false
}

/** Undefined: it was aborted before anything reached the target. */
async function make(attempt: PlannedAttempt, dependencies: SendDependencies): Promise<Answered | undefined> {
  const { probes, budget, prices } = dependencies
  const probe = probes.get(attempt.probeId)
  if (probe === undefined) throw new Error(`the plan has a probe that is not there: ${attempt.probeId}`)
  const made = await makeAttempt(attempt, probe, dependencies)
  if (made.last.kind === 'stopped' && made.earlier.length === 0) return undefined
  const costUsd = costOf(made, prices)
  budget.settle(costUsd)
  return { attempt, made, costUsd }
}

interface Answered {
  attempt: PlannedAttempt
  made: MadeAttempt
  costUsd: number | null
}

/**
 * Sends records to ingest first, then writes the table: after a crash between the two, the record is found by
 * its identifier. Both run apart: while Postgres is away, answers still reach ingest and only wait to be
 * noted.
 */
function createRecorder({
  run,
  attempts,
  log,
  patiently,
}: SendDependencies & { patiently: Patiently }): (answered: Answered) => Promise<unknown> {
  const limits = { ...recording, least: Math.min(recording.most, Math.ceil(run.options.concurrency / 2)) }
  const logged = createTogether(async (answered: readonly Answered[]) => {
    const records = answered.map(({ attempt, made }) => makeRecords(run, attempt, made))
    const refused = await patiently(() => log(records.flat()))
    const wasRefused = records.map((of) => refused.splice(0, of.length).some((code) => code !== null))
    return answered.map((one, index) => recordedOf(one, wasRefused[index] === true))
  }, limits)
  const noted = createTogether(async (recorded: readonly RecordedAttempt[]) => {
    await patiently(() => attempts.noteRecorded(recorded))
    return recorded.map(() => undefined)
  }, limits)
  return async (answered) => noted(await logged(answered))
}

function recordedOf({ attempt, made, costUsd }: Answered, wasRefused: boolean): RecordedAttempt {
  const { last, earlier } = made
  const { statusCode, latencyMs } =
    last.kind === 'answered' || last.kind === 'failed' ? last : { statusCode: null, latencyMs: null }
  return {
    number: attempt.number,
    statusCode,
    latencyMs,
    costUsd,
    earlierTurns: earlier.length,
    reason: wasRefused ? 'not_recorded' : reasonOf(made),
  }
}

/** Null: the last answer tells how it ended. */
function reasonOf({ last, attackerError }: MadeAttempt): string | null {
  if (attackerError !== undefined) return 'attacker_failed'
  if (last.kind === 'answered') return null
  if (last.kind === 'stopped') return 'stopped'
  return last.kind === 'failed' ? 'target_failed' : 'target_not_reached'
}

/** Cost of all exchanges of an attempt; null: unknown for one of them. Unreached requests are free. */
function costOf({ last, earlier }: MadeAttempt, prices: PriceTable): number | null {
  const exchanges = last.kind === 'answered' ? [...earlier, last] : [...earlier]
  let sum = 0
  for (const { requestBody, responseBody } of exchanges) {
    const described = describeCall({ requestBody, responseBody })
    const { model, provider } = described
    const tokens = countsOf(described)
    const cost = costOfCall({ model: model ?? 'unknown', provider, tokens, described }, prices)
    if (cost === null) return null
    sum += cost
  }
  return sum
}
