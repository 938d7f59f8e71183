import { expect, test } from '@jest/globals'
import { copiesWith, fewestCopies, inSyncOf, refuseFewerCopies } from './topic-copies.ts'

const kept = (...replicas: number[][]) => inSyncOf(fewestCopies(replicas.map((ids) => ({ replicas: ids }))))

test.each<[string, number, number]>([
  // Kafka names a replica's broker whether or not it answers.
  ['kept three times, no matter who is away', kept([1, 2, 3], [3, 1, 2]), 2],
  ['kept once, on a cluster that grew', kept([1], [2]), 1],
  ['one partition kept fewer times than the others', kept([1, 2, 3], [1, 2]), 1],
  ['kept more often than we ask for', kept([1, 2, 3, 4, 5]), 2],
])('of a topic %s', (_name, found, expected) => expect(found).toBe(expected))

test.each([
  [1, 1],
  [2, 2],
  [3, 3],
  [9, 3],
])('on %i brokers a new topic has %i copies', (brokers, copies) => expect(copiesWith(brokers)).toBe(copies))

test('while a broker is down, no topic is created with fewer replicas than the others', () => {
  expect(() => refuseFewerCopies('new', 2, [3, 3])).toThrow(
    'new is missing; with 2 brokers it would be kept 2 times, others are kept 3 times: bring back the brokers that are away',
  )
  // A first installation, a cluster that grew, more replicas than we create.
  for (const [replicationFactor, others] of [
    [1, []],
    [3, [1, 1]],
    [3, [5]],
  ] as const)
    expect(() => refuseFewerCopies('new', replicationFactor, others)).not.toThrow()
})
