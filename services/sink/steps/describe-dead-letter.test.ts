import { expect, test } from '@jest/globals'
import type { ConsumedRecord } from '#runtime/kafka/records.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { describeDeadLetter } from './describe-dead-letter.ts'

const requestId = newId('request')
const projectId = newId('project')
const place = { cluster: 'c', topic: 'llm.request.logged', projectId: null }

function letter(changes: Partial<ConsumedRecord<Buffer | null>> = {}): ConsumedRecord<Buffer | null> {
  return {
    topic: 'llm.request.logged.dlq',
    partition: 2,
    offset: 7n,
    key: requestId,
    value: Buffer.from('bytes'),
    headers: {
      'sluice-dlq-code': 'UNSTORABLE',
      'sluice-dlq-message': 'no\u0000',
      'sluice-dlq-partition': '3',
      'sluice-dlq-offset': '41',
      'sluice-dlq-group': 'sink-calls',
    },
    timestampMs: 1_700_000_000_000,
    ...changes,
  }
}

test('a dead letter is described by its headers and its key', () => {
  expect(describeDeadLetter(letter(), { ...place, projectId })).toMatchObject({
    topic: 'llm.request.logged',
    partition: 2,
    offset: 7n,
    sourcePartition: 3,
    sourceOffset: 41n,
    groupId: 'sink-calls',
    code: 'UNSTORABLE',
    message: 'no\uFFFD',
    requestUuid: idToUuid(requestId),
    projectUuid: idToUuid(projectId),
    valueBytes: 5,
    deadAtMs: 1_700_000_000_000,
  })
})

test('the same record has the same identifier, and another place another', () => {
  const uuid = (offset: bigint) => describeDeadLetter(letter({ offset }), place).uuid
  expect(uuid(7n)).toBe(uuid(7n))
  expect(uuid(7n)).not.toBe(uuid(8n))
})

test.each([
  ['no headers at all', letter({ headers: {}, key: null, value: null, timestampMs: Number.NaN })],
  [
    'headers that somebody else wrote',
    letter({
      headers: { 'sluice-dlq-offset': '-1', 'sluice-dlq-partition': '99999999999' },
      key: 'x'.repeat(5_000),
    }),
  ],
])('%s is described as far as it goes', (_name, record) => {
  const row = describeDeadLetter(record, place)
  expect(row).toMatchObject({ code: 'UNKNOWN', sourceOffset: null, sourcePartition: null, requestUuid: null })
  expect(row.key?.length ?? 0).toBeLessThanOrEqual(1_000)
})

test('the key of an event is its project', () => {
  expect(describeDeadLetter(letter({ key: projectId }), place).projectUuid).toBe(idToUuid(projectId))
})
