import { expect, test } from '@jest/globals'
import { bodyBytesWithin, callBytesWithin, deadLetterRoomBytes } from './record-limits.ts'
import {
  defaultTopicSettings,
  longestRetentionMs,
  topics,
  topicsToCreate,
  type TopicSettings,
} from './topics.ts'

const cap = 8 * 1024 * 1024

function made(settings: Partial<TopicSettings>) {
  const all = topicsToCreate('p.', { ...defaultTopicSettings, ...settings })
  return new Map<string, Record<string, string | number>>(
    all.map(({ name, partitions, config }) => [name.slice(2), { partitions, ...config }]),
  )
}

test('no topic takes more than the cluster, and what a topic takes fits where its dead letters go', () => {
  const capped = made({ maxRecordBytes: cap })
  const bytesOf = (name: string) => Number(capped.get(name)?.['max.message.bytes'] ?? 0)
  for (const name of capped.keys()) {
    const deadLetters = bytesOf(`${name}.dlq`)
    expect({ name, isWithin: bytesOf(name) <= cap }).toEqual({ name, isWithin: true })
    expect({ name, fits: bytesOf(name) + deadLetterRoomBytes <= deadLetters }).toEqual({
      name,
      fits: capped.has(`${name}.dlq`),
    })
  }
  expect(capped.get('llm.request.logged')?.['max.message.bytes']).toBe(String(cap - deadLetterRoomBytes))
  expect(capped.get('llm.request.logged.dlq')?.['max.message.bytes']).toBe(String(cap))
  expect(capped.get('event.raised')?.['max.message.bytes']).toBe(String(4 * 1024 * 1024))
})

test('a call has room in its topic, and two bodies in a call', () => {
  expect(callBytesWithin(cap)).toBe(8_257_536)
  expect(callBytesWithin(cap)).toBeLessThan(cap - deadLetterRoomBytes)
  expect(2 * bodyBytesWithin(cap)).toBeLessThan(callBytesWithin(cap))
})

test('unset, topics are as the table says', () => {
  const logged = made({}).get('llm.request.logged')
  expect(logged).toMatchObject({
    partitions: 6,
    'max.message.bytes': '16777216',
    'retention.ms': '604800000',
  })
  expect(made({}).get('llm.request.logged.dlq')).toMatchObject({ 'max.message.bytes': '17825792' })
})

test('partitions are those of the topic, else of its source, else of all', () => {
  const partitions = new Map([
    ['', 12],
    ['safety_score_jobs', 24],
    ['event.raised.dlq', 1],
  ])
  const all = made({ partitions })
  const counts = [
    'llm.request.logged',
    'safety_score_jobs',
    'safety_score_jobs.dlq',
    'event.raised',
    'event.raised.dlq',
  ]
  expect(counts.map((name) => all.get(name)?.['partitions'])).toEqual([12, 24, 24, 12, 1])
})

test('retention is set for all but the ephemeral topics, whose hour is a promise', () => {
  const day = 86_400_000
  const all = made({
    retentionMs: new Map([
      ['', day],
      ['llm.request.logged', 2 * day],
    ]),
  })
  const kept = (name: string) => Number(all.get(name)?.['retention.ms'])
  expect(kept('llm.request.logged')).toBe(2 * day)
  expect(kept('llm.request.logged.dlq')).toBe(day)
  expect(kept('safety_score_jobs')).toBe(day)
  for (const name of ['llm.request.ephemeral', 'safety_score_jobs.ephemeral'])
    expect(kept(name)).toBe(3_600_000)
  expect(Math.max(...Object.values(topics).map(({ retentionMs }) => retentionMs))).toBe(longestRetentionMs)
})
