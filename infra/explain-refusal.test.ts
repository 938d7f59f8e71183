import { expect, test } from '@jest/globals'
import { requestedOf, explainRefusal } from './explain-refusal.ts'

const topic = {
  name: 'llm.request.logged',
  partitions: 6,
  config: { 'retention.ms': '604800000', 'max.message.bytes': '16777216' },
  isEphemeral: false,
}
const asked = new Map([[topic.name, requestedOf(topic, 3)]])
const explain = (type: string, message: string, count = 1) =>
  explainRefusal(
    Array.from({ length: count }, () => ({ topic: topic.name, type, message })),
    asked,
  )
const byOthers =
  'have the topics created by someone who may (docs/topics.md), then run scripts/migrate --check-topics-only'

test.each([
  [
    'a policy that names the setting',
    explain('POLICY_VIOLATION', 'max.message.bytes must not be over 8388608.', 23),
    `Kafka refuses topic llm.request.logged (POLICY_VIOLATION), requested: max.message.bytes 16777216; Kafka says: max.message.bytes must not be over 8388608; 22 other topics are refused too: set KAFKA_MAX_RECORD_BYTES, or ${byOthers}`,
  ],
  [
    'a policy that says nothing',
    explain('POLICY_VIOLATION', ''),
    `Kafka refuses topic llm.request.logged (POLICY_VIOLATION), requested: partitions 6, replication factor 3, retention.ms 604800000, max.message.bytes 16777216: ${byOthers}`,
  ],
  [
    'copies',
    explain('INVALID_REPLICATION_FACTOR', 'Unable to replicate the partition 3 time(s)'),
    `Kafka refuses topic llm.request.logged (INVALID_REPLICATION_FACTOR), requested: replication factor 3; Kafka says: Unable to replicate the partition 3 time(s): ${byOthers}`,
  ],
  [
    'partitions',
    explain('INVALID_PARTITIONS', 'too many'),
    `Kafka refuses topic llm.request.logged (INVALID_PARTITIONS), requested: partitions 6; Kafka says: too many: set KAFKA_TOPIC_PARTITIONS, or ${byOthers}`,
  ],
  [
    'a user without rights',
    explain('TOPIC_AUTHORIZATION_FAILED', 'Authorization failed.'),
    `Kafka refuses topic llm.request.logged (TOPIC_AUTHORIZATION_FAILED); Kafka says: Authorization failed: give this user the rights that scripts/kafka-acls prints, or ${byOthers}`,
  ],
])('a refusal because of %s is one sentence', (_name, sentence, expected) => expect(sentence).toBe(expected))
