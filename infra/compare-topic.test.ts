import { expect, test } from '@jest/globals'
import type { PartitionMetadata } from 'kafkajs'
import { topicsToCreate, topics, type TopicToCreate } from '#schemas/topics.ts'
import { whatIsWrong } from './compare-topic.ts'

function find(name: string): TopicToCreate {
  const found = topicsToCreate('p.').find((topic) => topic.name === `p.${name}`)
  if (found === undefined) throw new Error(`no ${name}`)
  return found
}
const logged = find(topics.requestLogged.name)
const ephemeral = find(topics.requestEphemeral.name)
const partition = { replicas: [1, 2, 3] } as PartitionMetadata
const made = (count: number) => Array.from({ length: count }, () => partition)
const with2 = { 'min.insync.replicas': '2' }

function wrong(topic: TopicToCreate, config: Record<string, string>, partitions = 6): string[] {
  return whatIsWrong(topic, made(partitions), { ...topic.config, ...with2, ...config })
}

test('a topic of another owner may exceed the requirements', () => {
  expect(wrong(logged, {})).toEqual([])
  expect(wrong(logged, { 'max.message.bytes': '20971520', 'retention.ms': '1209600000' }, 24)).toEqual([])
  expect(wrong(ephemeral, { 'retention.ms': '600000', 'segment.ms': '60000' })).toEqual([])
})

test.each<[string, TopicToCreate, Record<string, string>, string]>([
  ['is compacted', logged, { 'cleanup.policy': 'compact' }, 'cleanup.policy is compact, not delete'],
  [
    'is compacted too',
    logged,
    { 'cleanup.policy': 'delete,compact' },
    'cleanup.policy is delete,compact, not delete',
  ],
  [
    'keeps too short',
    logged,
    { 'retention.ms': '604799999' },
    'retention.ms is 604799999, not 604800000 to 1209600000',
  ],
  ['keeps for ever', logged, { 'retention.ms': '-1' }, 'retention.ms is -1, not 604800000 to 1209600000'],
  [
    'keeps what is not to be kept',
    ephemeral,
    { 'retention.ms': '604800000' },
    'retention.ms is 604800000, not 3600000 or less',
  ],
  [
    'closes segments too late',
    ephemeral,
    { 'segment.ms': '604800000' },
    'segment.ms is 604800000, not 600000 or less',
  ],
  [
    'takes too little',
    logged,
    { 'max.message.bytes': '1048588' },
    'max.message.bytes is 1048588, not 16777216 or more',
  ],
  [
    'goes by clocks of producers',
    logged,
    { 'message.timestamp.type': 'CreateTime' },
    'message.timestamp.type is CreateTime, not LogAppendTime',
  ],
  ['loses what one broker had', logged, { 'min.insync.replicas': '1' }, 'min.insync.replicas is 1, not 2'],
])('one that %s is named', (_name, topic, config, phrase) => {
  expect(wrong(topic, config)).toEqual([`${topic.name}: ${phrase}`])
})

test('reports too few partitions, also without access to the configuration', () => {
  expect(whatIsWrong(logged, made(3), undefined)).toEqual(['p.llm.request.logged has 3 partitions, not 6'])
})
