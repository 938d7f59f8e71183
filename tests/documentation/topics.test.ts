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
  expectPage(
    'topics.md',
    `# Topics\n\nMade from \`schemas/topics.ts\`; \`UPDATE_DOCS=1\` before \`tests/documentation\` writes it anew. Values are Avro, subject \`<topic>-value\`,
compatibility \`BACKWARD_TRANSITIVE\`. Dead letters are kept 14 days and hold the original bytes, with error and position in their headers.\n\n${tableOf(header, rows)}\n
\`KAFKA_TOPIC_PARTITIONS\` and \`KAFKA_TOPIC_RETENTION_MS\` take the place of these numbers,
\`KAFKA_MAX_RECORD_BYTES\` bounds the largest record ([configuration](configuration.md#topics)). Every topic
has \`cleanup.policy\` \`delete\` and \`message.timestamp.type\` \`LogAppendTime\`; those kept for 1 h have
\`segment.ms\` 600000. Dead letters take 1 MiB more than their topic, and at least 64 KiB more where records
are bounded, so that whatever a topic takes fits into its dead-letter topic. Where somebody else made both
of one size, a record that no longer fits is kept as a dead letter without its value and its own headers
(\`sluice-dlq-value: omitted\`, and an error in the log). What happened and where it stood is known; it cannot be sent again.\n`,
  )
})

function duration(milliseconds: number): string {
  const hours = milliseconds / 3_600_000
  return hours >= 48 ? `${hours / 24} days` : `${hours} h`
}
