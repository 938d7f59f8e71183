import type { Kafka } from 'kafkajs'
import { clientsAheadMs } from '#capture/record/read-bodies.ts'
import { PermanentError } from '#runtime/errors.ts'
import type { RawRecord } from '#runtime/kafka/raw-record.ts'
import { readRecordsFrom, readRanges } from '#runtime/kafka/read-range.ts'
import type { Codec } from '#runtime/kafka/registry-codec.ts'
import type { Log } from '#runtime/log.ts'
import { idFromUuid, idTimeMs } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { checkIdentity } from '../steps/check-identity.ts'
import { makeScoreJob } from '../steps/make-score-job.ts'
import type { PageBounds } from '../stores/replay-store.ts'
import type { PartitionRange, ScoreRun } from '../stores/run-store.ts'

export interface HistoryPage {
  jobs: ScoreJob[]
  /** Where the next page begins. */
  offsets: Record<string, PartitionRange>
  isEnd: boolean
  /** Records deleted before they were read, by the topic's retention or with the topic. */
  lost: number
}

/** Reads a run's next calls from their topic. */
export type ReadHistory = (run: ScoreRun, bounds: PageBounds) => Promise<HistoryPage>

export interface HistoryDependencies {
  kafka: Kafka
  topic: string
  codec: Codec<LoggedCall>
  groupPrefix: string
  log: Log
}

/**
 * Reads partition after partition, from the first record of the run's time to the topic's end when the run
 * began. Selects records by the time of their call, not of their sending.
 */
export function createHistoryReader({
  kafka,
  topic,
  codec,
  groupPrefix,
  log,
}: HistoryDependencies): ReadHistory {
  async function makeJobs(run: ScoreRun, records: readonly RawRecord[]): Promise<ScoreJob[]> {
    const jobs: ScoreJob[] = []
    for (const { partition, offset, message } of records) {
      const call = await decode(message.value).catch((error: unknown) => {
        // The consumer of calls has written its dead letter.
        if (!(error instanceof PermanentError)) throw error
        log.warn(
          { topic, partition, offset: String(offset), code: error.code },
          'replay skips a record that is no call',
        )
      })
      if (call === undefined || checkIdentity(call.project_id, call.id) !== undefined) continue
      if (belongs(call, run)) jobs.push(makeScoreJob(call, Date.now()))
    }
    return jobs
  }

  return async (run, { maxCalls, maxBytes }) => {
    const ranges = run.offsets ?? (await readRanges(kafka, topic, run.start_at.getTime() - clientsAheadMs))
    const page: HistoryPage = { jobs: [], offsets: { ...ranges }, isEnd: false, lost: 0 }
    const open = Object.entries(ranges).filter(([, range]) => !isRead(range))
    // One partition a page, after those without records: a topic made again is passed and reported at once.
    for (const [partition, { next, end }] of open) {
      const { records, nextOffset, lostCount } = await readRecordsFrom(
        kafka,
        { topic, partition: Number(partition), offset: BigInt(next), end: BigInt(end) },
        { groupPrefix, timeoutMs: 60_000, maxRecords: maxCalls, maxBytes },
      )
      page.offsets[partition] = { next: String(nextOffset), end }
      page.lost += lostCount
      if (lostCount > 0)
        log.error(
          { topic, partition, records: lostCount },
          'records were deleted from the topic before a replay read them',
        )
      page.jobs = await makeJobs(run, records)
      if (records.length > 0) break
    }
    return { ...page, isEnd: Object.values(page.offsets).every(isRead) }
  }

  function decode(value: Buffer | null): Promise<LoggedCall> {
    return codec.decode(value ?? Buffer.alloc(0))
  }
}

function isRead({ next, end }: PartitionRange): boolean {
  return BigInt(next) >= BigInt(end)
}

function belongs({ id, project_id }: LoggedCall, run: ScoreRun): boolean {
  const createdAtMs = idTimeMs(id)
  const isOfProject = run.project_id === null || idFromUuid('project', run.project_id) === project_id
  return isOfProject && createdAtMs >= run.start_at.getTime() && createdAtMs < run.end_at.getTime()
}
