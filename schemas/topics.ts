import { eventRaisedAvro, type RaisedEvent } from './event-raised.ts'
import { deadLetterRoomBytes } from './record-limits.ts'
import { llmRequestLoggedAvro, type LoggedCall } from './llm-request-logged.ts'
import { safetyScoreJobAvro, type ScoreJob } from './safety-score-job.ts'
import { safetyScoreRecordedAvro, type ScoredCall } from './safety-score-recorded.ts'
import { webhookDeliveryAvro, type WebhookDelivery } from './webhook-delivery.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const mebibyte = 1024 * 1024

/** Bodies are at most BODY_MAX_BYTES (12 MiB) a record before compression, so 16 MiB holds one. */
const bodyTopicMaxBytes = 16 * mebibyte
/** A dead letter adds headers to its value. */
const deadLetterExtraBytes = mebibyte
const defaultMaxBytes = 4 * mebibyte

/** The value of each topic, by the name of its Avro record. */
export interface TopicValues {
  LlmRequestLogged: LoggedCall
  SafetyScoreJob: ScoreJob
  SafetyScoreRecorded: ScoredCall
  EventRaised: RaisedEvent
  WebhookDelivery: WebhookDelivery
}
export type SchemaName = keyof TopicValues

export const avroSchemas: Readonly<Record<SchemaName, object>> = {
  LlmRequestLogged: llmRequestLoggedAvro,
  SafetyScoreJob: safetyScoreJobAvro,
  SafetyScoreRecorded: safetyScoreRecordedAvro,
  EventRaised: eventRaisedAvro,
  WebhookDelivery: webhookDeliveryAvro,
}

export interface TopicDefinition<S extends SchemaName = SchemaName> {
  name: string
  schema: S
  /** The key. Records of one key keep their order. */
  key: 'request id' | 'project id' | 'project id, one of three' | 'webhook id'
  writtenBy: string
  readBy: string
  partitions: number
  retentionMs: number
  /** How soon after its last record a segment can be deleted; absent: the broker's default. */
  segmentMs?: number
  maxMessageBytes: number
  /** Whether consumers dead-letter to `<name>.dlq`. */
  deadLetters: boolean
}

function topic<S extends SchemaName>(
  definition: Omit<TopicDefinition<S>, 'partitions' | 'maxMessageBytes' | 'deadLetters'> &
    Partial<TopicDefinition<S>>,
): TopicDefinition<S> {
  return { partitions: 6, maxMessageBytes: defaultMaxBytes, deadLetters: true, ...definition }
}

const ephemeral = { retentionMs: hourMs, segmentMs: 10 * minuteMs, maxMessageBytes: bodyTopicMaxBytes }

/** The only table of topics: creation, documentation and tests use it. */
export const topics = {
  requestLogged: topic({
    name: 'llm.request.logged',
    schema: 'LlmRequestLogged',
    key: 'request id',
    writtenBy: 'ingest, gateway (Kafka delivery)',
    readBy: 'sink',
    retentionMs: 7 * dayMs,
    maxMessageBytes: bodyTopicMaxBytes,
  }),
  requestEphemeral: topic({
    name: 'llm.request.ephemeral',
    schema: 'LlmRequestLogged',
    key: 'request id',
    writtenBy: 'ingest, gateway (Kafka delivery), for projects with zero content retention',
    readBy: 'sink',
    ...ephemeral,
  }),
  scoreJobs: topic({
    name: 'safety_score_jobs',
    schema: 'SafetyScoreJob',
    key: 'request id',
    writtenBy: 'sink',
    readBy: 'scorer',
    retentionMs: 7 * dayMs,
    maxMessageBytes: bodyTopicMaxBytes,
  }),
  scoreJobsEphemeral: topic({
    name: 'safety_score_jobs.ephemeral',
    schema: 'SafetyScoreJob',
    key: 'request id',
    writtenBy: 'sink, for projects with zero content retention',
    readBy: 'scorer, as live',
    ...ephemeral,
  }),
  scoreJobsLarge: topic({
    name: 'safety_score_jobs.large',
    schema: 'SafetyScoreJob',
    key: 'project id, one of three',
    writtenBy: 'scorer, for large calls',
    readBy: 'scorer, its own consumer group',
    retentionMs: 7 * dayMs,
    maxMessageBytes: bodyTopicMaxBytes,
  }),
  scoreJobsLargeEphemeral: topic({
    name: 'safety_score_jobs.large.ephemeral',
    schema: 'SafetyScoreJob',
    key: 'project id, one of three',
    writtenBy: 'scorer, for large calls of projects with zero content retention',
    readBy: 'scorer, as large calls',
    ...ephemeral,
  }),
  scoreJobsReplay: topic({
    name: 'safety_score_jobs.replay',
    schema: 'SafetyScoreJob',
    key: 'request id',
    writtenBy: 'sink, for runs that score history again; scorer, where detectors were too slow',
    readBy: 'scorer, its own consumer group',
    retentionMs: 7 * dayMs,
    maxMessageBytes: bodyTopicMaxBytes,
  }),
  scoreRecorded: topic({
    name: 'safety.score.recorded',
    schema: 'SafetyScoreRecorded',
    key: 'request id',
    writtenBy: 'scorer',
    readBy: 'sink',
    retentionMs: 7 * dayMs,
  }),
  eventRaised: topic({
    name: 'event.raised',
    schema: 'EventRaised',
    key: 'project id',
    writtenBy: "the sink's outbox relay",
    readBy: 'notifier',
    retentionMs: 7 * dayMs,
  }),
  deliveryDue: topic({
    name: 'webhook.delivery.due',
    schema: 'WebhookDelivery',
    key: 'webhook id',
    writtenBy: 'notifier (fan-out), api (manual replay)',
    readBy: 'notifier',
    retentionMs: 7 * dayMs,
  }),
  deliveryRetry1s: retryTopic('1s'),
  deliveryRetry2s: retryTopic('2s'),
  deliveryRetry4s: retryTopic('4s'),
  deliveryDead: topic({
    name: 'webhook.delivery.dead',
    schema: 'WebhookDelivery',
    key: 'webhook id',
    writtenBy: 'notifier',
    readBy: 'operators',
    retentionMs: 14 * dayMs,
    deadLetters: false,
  }),
}

/** Retention of dead letters, and the maximum of any topic. */
export const longestRetentionMs = 14 * dayMs
/**
 * The broker deletes whole segments. It closes one after seven days by default, and counts from its last
 * record.
 */
const segmentMs = 7 * dayMs

/** Longest time from writing a record until it is gone from Kafka, dead letters included. */
export const longestKeptMs = longestRetentionMs + segmentMs

function retryTopic(delay: '1s' | '2s' | '4s'): TopicDefinition<'WebhookDelivery'> {
  return topic({
    name: `webhook.delivery.retry.${delay}`,
    schema: 'WebhookDelivery',
    key: 'webhook id',
    writtenBy: 'notifier',
    readBy: 'notifier',
    retentionMs: dayMs,
  })
}

/** The dead-letter topic of `topicName`. Values there are the original bytes, not Avro. */
export function deadLetterTopic(topicName: string): string {
  return `${topicName}.dlq`
}

/** An operator's settings of topics, by name without prefix; '': all topics not named. */
export interface TopicSettings {
  /** Largest record that the cluster takes; undefined: as large as any topic needs. */
  maxRecordBytes?: number | undefined
  partitions: ReadonlyMap<string, number>
  /** For topics other than the ephemeral ones, whose hour is a promise. */
  retentionMs: ReadonlyMap<string, number>
}

export const defaultTopicSettings: TopicSettings = { partitions: new Map(), retentionMs: new Map() }

export interface TopicToCreate {
  name: string
  partitions: number
  config: Readonly<Record<string, string>>
  /** Kept no longer than its `retention.ms`; other topics may be. */
  isEphemeral: boolean
}

/**
 * Every topic to create, with dead-letter topics. `prefix` goes before each name (tests, shared clusters).
 */
export function topicsToCreate(prefix = '', settings = defaultTopicSettings): TopicToCreate[] {
  const { maxRecordBytes = Infinity, partitions, retentionMs } = settings
  return Object.values(topics).flatMap((definition: TopicDefinition) => {
    const { name, maxMessageBytes } = definition
    const isEphemeral = definition.segmentMs !== undefined
    const count = partitions.get(name) ?? partitions.get('') ?? definition.partitions
    const keptMs = retentionMs.get(name) ?? retentionMs.get('') ?? definition.retentionMs
    // A record must still fit its dead-letter topic, with the headers of a dead letter.
    const maxBytes = Math.min(maxMessageBytes, maxRecordBytes - deadLetterRoomBytes)
    const created = {
      name: prefix + name,
      partitions: count,
      config: topicConfig(isEphemeral ? definition.retentionMs : keptMs, maxBytes, definition.segmentMs),
      isEphemeral,
    }
    if (!definition.deadLetters) return [created]
    const dead = deadLetterTopic(name)
    const deadLetters = {
      name: prefix + dead,
      partitions: partitions.get(dead) ?? count,
      // Dead letters of ephemeral topics have no value: it must not outlive its hour.
      config: topicConfig(
        retentionMs.get(dead) ?? retentionMs.get('') ?? longestRetentionMs,
        Math.min(maxMessageBytes + deadLetterExtraBytes, maxRecordBytes),
      ),
      isEphemeral: false,
    }
    return [created, deadLetters]
  })
}

/** The names that settings may use. */
export const settableTopics: ReadonlySet<string> = new Set(topicsToCreate().map(({ name }) => name))

function topicConfig(
  retentionMs: number,
  maxMessageBytes: number,
  segmentMs?: number,
): Record<string, string> {
  return {
    'cleanup.policy': 'delete',
    'retention.ms': String(retentionMs),
    // The broker's clock. With a producer's clock an hour behind, records kept for an hour would be deleted
    // unread.
    'message.timestamp.type': 'LogAppendTime',
    'max.message.bytes': String(maxMessageBytes),
    ...(segmentMs === undefined ? {} : { 'segment.ms': String(segmentMs) }),
  }
}
