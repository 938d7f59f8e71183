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
compatibility \`BACKWARD_TRANSITIVE\`. Dead letters are kept 14 days and hold the original bytes, with error and position in their headers.\n\n${tableOf(header, rows)}\n`,
  )
})

function duration(milliseconds: number): string {
  const hours = milliseconds / 3_600_000
  return hours >= 48 ? `${hours / 24} days` : `${hours} h`
}
