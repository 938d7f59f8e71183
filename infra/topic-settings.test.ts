import { expect, test } from '@jest/globals'
import { parseConfig } from '#runtime/config.ts'
import { topicSettingsOf, topicSettingsSchema } from './topic-settings.ts'

const parse = (environment: Record<string, string>) => parseConfig(topicSettingsSchema, environment)

test('a number applies to all topics, topic:number to one', () => {
  const parsed = parse({
    KAFKA_MAX_RECORD_BYTES: '8388608',
    KAFKA_TOPIC_PARTITIONS: '12, safety_score_jobs:24',
    KAFKA_TOPIC_RETENTION_MS: 'llm.request.logged.dlq:86400000',
  })
  if (!parsed.ok) throw new Error(parsed.problems.join())
  expect(topicSettingsOf(parsed.value)).toEqual({
    maxRecordBytes: 8_388_608,
    partitions: new Map([
      ['', 12],
      ['safety_score_jobs', 24],
    ]),
    retentionMs: new Map([['llm.request.logged.dlq', 86_400_000]]),
  })
})

test.each([
  ['KAFKA_TOPIC_PARTITIONS', 'many', 'expected a whole number or topic:number, not many'],
  ['KAFKA_TOPIC_PARTITIONS', '0', 'expected 1 to 10000, not 0'],
  ['KAFKA_TOPIC_PARTITIONS', 'llm.request.loged:3', 'there is no topic llm.request.loged'],
  ['KAFKA_TOPIC_PARTITIONS', '3,4', 'says twice what all topics should have'],
  ['KAFKA_TOPIC_RETENTION_MS', '1000', 'expected 3600000 to 1209600000, not 1000'],
  ['KAFKA_TOPIC_RETENTION_MS', '2592000000', 'expected 3600000 to 1209600000, not 2592000000'],
  [
    'KAFKA_TOPIC_RETENTION_MS',
    'llm.request.ephemeral:86400000',
    'llm.request.ephemeral and safety_score_jobs.ephemeral and safety_score_jobs.large.ephemeral are kept an hour: zero content retention is that promise',
  ],
])('%s=%s is refused', (name, value, problem) => {
  expect(parse({ [name]: value })).toEqual({ ok: false, problems: [`${name}: ${problem}`] })
})

test.each(['8 MiB', '1000', '2000000000'])('KAFKA_MAX_RECORD_BYTES=%s is refused', (value) => {
  expect(parse({ KAFKA_MAX_RECORD_BYTES: value })).toMatchObject({
    problems: [expect.stringMatching(/^KAFKA_MAX_RECORD_BYTES: /)],
  })
})
