import { murmur2 } from '#runtime/kafka/partition-for-key.ts'
import type { ConsumedRecord, Encoder, OutgoingRecord, Producer } from '#runtime/kafka/records.ts'
import type { TraceContext } from '#runtime/tracing/tracing.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { topics, type TopicDefinition } from '#schemas/topics.ts'

/** The queue of a job: live, large live, or replay. */
export type QueueName = 'live' | 'large' | 'replay'

/** Moves jobs to another queue, or to the end of their own. Resolves once Kafka has the job. */
export interface JobQueues {
  /** To the lane for large calls. */
  handOver(job: ScoreJob, trace?: TraceContext): Promise<void>
  /** To the end of its own queue, marked as a second attempt. */
  tryLater(job: ScoreJob, from: QueueName, trace?: TraceContext): Promise<void>
}

interface JobQueuesOptions {
  producer: Pick<Producer, 'send'>
  encoder: Encoder<ScoreJob>
  topicPrefix: string
}

const attemptHeader = 'sluice-attempt'
/** A project's large calls go to at most three partitions: of six, half stay free of one project's flood. */
const keysOfProject = 3

export function createJobQueues({ producer, encoder, topicPrefix }: JobQueuesOptions): JobQueues {
  const nameOf = ({ name }: TopicDefinition) => topicPrefix + name
  const send = async (job: ScoreJob, record: Omit<OutgoingRecord, 'value'>) =>
    producer.send([{ ...record, value: await encoder.encode(job) }])
  const largeOf = (job: ScoreJob) => ({
    topic: nameOf(job.zero_content_retention ? topics.scoreJobsLargeEphemeral : topics.scoreJobsLarge),
    key: largeKeyOf(job),
  })
  return {
    handOver: (job, trace) => send(job, { ...largeOf(job), trace }),
    tryLater: (job, from, trace) =>
      send(job, {
        ...(from === 'replay'
          ? { topic: nameOf(topics.scoreJobsReplay), key: job.request_id }
          : largeOf(job)),
        headers: { [attemptHeader]: '2' },
        trace,
      }),
  }
}

/** One of the project's three partition keys. */
function largeKeyOf({ project_id, request_id }: Pick<ScoreJob, 'project_id' | 'request_id'>): string {
  return `${project_id}/${(murmur2(Buffer.from(request_id)) >>> 0) % keysOfProject}`
}

/** True for a job that was retried after being too slow. */
export function isSecondTry({ headers }: Pick<ConsumedRecord<unknown>, 'headers'>): boolean {
  return headers[attemptHeader] !== undefined
}
