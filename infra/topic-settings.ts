import { z } from 'zod'
import { kafkaFields } from '#runtime/config.ts'
import {
  longestRetentionMs,
  settableTopics,
  topics,
  type TopicDefinition,
  type TopicSettings,
} from '#schemas/topics.ts'

const hourMs = 3_600_000
const ephemeralTopics = new Set(
  Object.values(topics)
    .filter(({ segmentMs }: TopicDefinition) => segmentMs !== undefined)
    .map(({ name }) => name),
)

/** Settings for programs that create or examine topics (scripts/migrate, scripts/up, scripts/doctor). */
export const topicFields = {
  KAFKA_MAX_RECORD_BYTES: kafkaFields.KAFKA_MAX_RECORD_BYTES,
  KAFKA_TOPIC_PARTITIONS: perTopic(1, 10_000).describe(
    'Partitions of topics: a number for all, `topic:number` for one, comma-separated, for instance `12,safety_score_jobs:24`; names without TOPIC_PREFIX. A dead-letter topic that is not named has those of its topic. Unset: 6. They are never made fewer.',
  ),
  KAFKA_TOPIC_RETENTION_MS: perTopic(hourMs, longestRetentionMs)
    .refine((times) => [...times.keys()].every((name) => !ephemeralTopics.has(name)), {
      error: `${[...ephemeralTopics].join(' and ')} are kept an hour: zero content retention is that promise`,
    })
    .describe(
      'How long topics keep records, milliseconds, in the same form; at most 14 days (1209600000), which is what erasures tell their callers. Ephemeral topics keep their hour. Unset: docs/topics.md.',
    ),
}

export const topicSettingsSchema = z.object(topicFields)

export function topicSettingsOf(config: z.output<typeof topicSettingsSchema>): TopicSettings {
  return {
    maxRecordBytes: config.KAFKA_MAX_RECORD_BYTES,
    partitions: config.KAFKA_TOPIC_PARTITIONS,
    retentionMs: config.KAFKA_TOPIC_RETENTION_MS,
  }
}

/** Parses `number` or `topic:number`, comma-separated, to a map; '' is the number for all other topics. */
function perTopic(min: number, max: number) {
  return z
    .string()
    .default('')
    .transform((text, context) => {
      const found = new Map<string, number>()
      const refuse = (message: string) => context.addIssue({ code: 'custom', message })
      for (const part of text.split(',').map((each) => each.trim())) {
        if (part === '') continue
        const [, name = '', digits = ''] = /^(?:(.+):)?(\d+)$/.exec(part) ?? []
        const value = Number(digits)
        if (digits === '') refuse(`expected a whole number or topic:number, not ${part}`)
        else if (name !== '' && !settableTopics.has(name)) refuse(`there is no topic ${name}`)
        else if (value < min || value > max) refuse(`expected ${min} to ${max}, not ${part}`)
        else if (found.has(name)) refuse(`says twice what ${name === '' ? 'all topics' : name} should have`)
        else found.set(name, value)
      }
      return found
    })
}
