import type { Kafka } from 'kafkajs'
import { clientsAheadMs } from '#capture/record/read-bodies.ts'
import { PermanentError } from '#runtime/errors.ts'
import { readRecordsFrom, readRanges } from '#runtime/kafka/read-range.ts'
import type { Codec } from '#runtime/kafka/registry-codec.ts'
import type { Log } from '#runtime/log.ts'
import { idFromUuid, idTimeMs } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { checkIdentity } from './steps/check-identity.ts'
import { makeScoreJob } from './steps/make-score-job.ts'
import type { PageBounds } from './stores/replay-store.ts'
import type { PartitionRange, ScoreRun } from './stores/run-store.ts'

export interface HistoryPage {
  jobs: ScoreJob[]
  /** Where the next page begins. */
  offsets: Record<string, PartitionRange>
  isEnd: boolean
  /** Records that retention has deleted before they were read. */
  lost: number
}

/** Reads a run's next calls from the topic that they were logged to. */
export type ReadHistory = (run: ScoreRun, bounds: PageBounds) => Promise<HistoryPage>

export interface HistoryDependencies {
  kafka: Kafka
  topic: string
  codec: Codec<LoggedCall>
  groupPrefix: string
  log: Log
}

/**
 * Partition after partition, from the first record of the run's time up to what the topic held when the reading began. Records are chosen by
 * the time of their call, not by when they were sent.
 */
export function createHistoryReader({
  kafka,
  topic,
  codec,
  groupPrefix,
  log,
}: HistoryDependencies): ReadHistory {
  return async (run, { maxCalls, maxBytes }) => {
    const offsets = run.offsets ?? (await readRanges(kafka, topic, run.start_at.getTime() - clientsAheadMs))
    const open = Object.entries(offsets).find(([, { next, end }]) => BigInt(next) < BigInt(end))
    if (open === undefined) return { jobs: [], offsets, isEnd: true, lost: 0 }
    const [partition, { next, end }] = open
    const { records, nextOffset, lostCount } = await readRecordsFrom(
      kafka,
      { topic, partition: Number(partition), offset: BigInt(next), end: BigInt(end) },
      { groupPrefix, timeoutMs: 60_000, maxRecords: maxCalls, maxBytes },
    )
    const jobs: ScoreJob[] = []
    for (const { offset, message } of records) {
      const call = await decode(message.value).catch((error: unknown) => {
        // Its dead letter has been written when it was stored.
        if (!(error instanceof PermanentError)) throw error
        log.warn(
          { topic, partition, offset: String(offset), code: error.code },
          'a replay passes a record that is no call',
        )
      })
      if (call === undefined || checkIdentity(call.project_id, call.id) !== undefined) continue
      if (belongs(call, run)) jobs.push(makeScoreJob(call, Date.now()))
    }
    const ranges = { ...offsets, [partition]: { next: String(nextOffset), end } }
    const isEnd = Object.values(ranges).every((range) => BigInt(range.next) >= BigInt(range.end))
    if (lostCount > 0)
      log.error(
        { topic, partition, records: lostCount },
        'retention deleted records before a replay read them',
      )
    return { jobs, offsets: ranges, isEnd, lost: lostCount }
  }

  function decode(value: Buffer | null): Promise<LoggedCall> {
    return codec.decode(value ?? Buffer.alloc(0))
  }
}

function belongs({ id, project_id }: LoggedCall, run: ScoreRun): boolean {
  const createdAtMs = idTimeMs(id)
  const isOfProject = run.project_id === null || idFromUuid('project', run.project_id) === project_id
  return isOfProject && createdAtMs >= run.start_at.getTime() && createdAtMs < run.end_at.getTime()
}
