import type { SinkConfig } from '../config.ts'
import type { ServiceContext } from '../service-context.ts'
import { createRoundStore, type OwnRound, type RoundStore } from '../stores/round-store.ts'
import type { DayPartitions } from '../stores/day-partitions.ts'
import { createElection, type Election } from './election.ts'
import { createPeriodicTask, type PeriodicTask, type RoundEnd } from './periodic-task.ts'

/** One round of a job. `number` counts the rounds of all sinks if the job is shared. */
export type Round = (signal?: AbortSignal, number?: number) => Promise<RoundEnd>

export interface UpkeepContext extends ServiceContext {
  partitions: DayPartitions
  /** Called when events wait in the outbox. */
  onEvents: () => void
}

/** What a job is created with: each takes what it uses. */
export type JobContext = UpkeepContext & Election

/** Work that the sinks repeat. `jobs.ts` lists them all. */
export interface UpkeepJob {
  /** In logs, metrics, health and `upkeep_rounds`. */
  name: string
  /** Pause after a round that left nothing to do. */
  intervalMs: (config: SinkConfig) => number
  /** The sinks share one round (`upkeep_rounds`); otherwise each makes its own. */
  shared?: true
  /** The advisory lock of its elections. Without one, several sinks work at the same time. */
  lock?: number
  /** Called once; what is kept between rounds lives in its closure. */
  create: (context: JobContext) => Round
}

/** Runs each job in a periodic task. Returns the tasks by the job's name. */
export function createUpkeep(
  context: UpkeepContext,
  jobs: readonly UpkeepJob[],
): ReadonlyMap<string, PeriodicTask> {
  return new Map(
    jobs.map((job) => {
      const { name, shared, lock = 0 } = job
      const intervalMs = job.intervalMs(context.config)
      const round = job.create({ ...context, ...createElection(context.pool, lock) })
      const run = shared ? shareRounds(createRoundStore(context.pool, name, intervalMs), round) : round
      return [name, createPeriodicTask({ ...context, name, intervalMs, run })]
    }),
  )
}

/**
 * One round for all sinks. The sink of the last round makes the next: what it saw in one tells it in the next
 * how far Kafka has come. Another takes over when a round is half an interval late or keeps failing. A round
 * that takes that long may be begun again elsewhere: the job itself must keep two from clashing.
 */
export function shareRounds(
  rounds: RoundStore,
  run: (signal: AbortSignal, number: number) => Promise<RoundEnd>,
): (signal: AbortSignal) => Promise<RoundEnd> {
  let own: OwnRound | undefined
  return async (signal) => {
    const begun = await rounds.begin(own)
    if (!('number' in begun)) return begun
    own = { number: begun.number, hasFailed: true }
    const end = await run(signal, begun.number)
    // A round that was stopped may have work left.
    if (typeof end === 'boolean') await rounds.end(begun.number, end || signal.aborted)
    own.hasFailed = false
    return end
  }
}
