import { test } from '@jest/globals'
import { topics, type TopicDefinition } from '#schemas/topics.ts'
import { expectPage, tableOf } from '../support/documented-page.ts'

test('docs/topics.md is made from schemas/topics.ts', () => {
  const rows = Object.values(topics).map((topic: TopicDefinition) => [
    `\`${topic.name}\``,
    topic.key,
    topic.schema,
    topic.writtenBy,
    topic.readBy,
    String(topic.partitions),
    duration(topic.retentionMs),
    `${topic.maxMessageBytes / 1024 / 1024} MiB`,
    topic.deadLetters ? `\`${topic.name}.dlq\`` : '—',
  ])
  expectPage('topics.md', `${introduction}\n${tableOf(header, rows)}\n${notes}`)
})

const header = [
  'topic',
  'key',
  'value',
  'written by',
  'read by',
  'partitions',
  'kept',
  'largest record',
  'dead letters',
]
const introduction = `# Topics

Generated from \`schemas/topics.ts\` by \`UPDATE_DOCS=1\`. Values are Avro with the subject \`<topic>-value\` and
compatibility \`BACKWARD_TRANSITIVE\`.
`
const notes = `
- \`KAFKA_TOPIC_PARTITIONS\` and \`KAFKA_TOPIC_RETENTION_MS\` override these numbers;
  \`KAFKA_MAX_RECORD_BYTES\` bounds the largest record ([configuration](configuration.md#topics)).
- Every topic has \`cleanup.policy\` \`delete\` and \`message.timestamp.type\` \`LogAppendTime\`. Topics kept for 1 h
  have \`segment.ms\` 600000.
- Dead letters are kept 14 days. They hold the original bytes, with error and position in their headers.
- A dead-letter topic takes 1 MiB more than its topic, or at least 64 KiB more where records are bounded. So
  every record of a topic fits.
- If both have one size (made by somebody else), a dead letter that does not fit loses its value and its
  own headers: \`sluice-dlq-value: omitted\`, and an error in the log. It cannot be sent again.
`

function duration(milliseconds: number): string {
  const hours = milliseconds / 3_600_000
  return hours >= 48 ? `${hours / 24} days` : `${hours} h`
}
