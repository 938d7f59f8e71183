import { expect, test } from '@jest/globals'
import type { Admin } from 'kafkajs'
import { assertTopics } from './missing-topic.ts'

const answered = (type: string) => Object.assign(new Error(type), { type })

/** A cluster that lists `listed`, or fails so, and says `found` of a topic that is asked for by name. */
function cluster(listed: string[] | Error, found?: Error): Admin {
  return {
    listTopics: () => (Array.isArray(listed) ? Promise.resolve(listed) : Promise.reject(listed)),
    fetchTopicMetadata: () => (found === undefined ? Promise.resolve({ topics: [] }) : Promise.reject(found)),
  } as unknown as Admin
}

test.each<[string, Admin]>([
  ['are listed', cluster(['a', 'b', 'c'])],
  [
    'cannot be listed while a partition of whichever topic has no leader',
    cluster(answered('LEADER_NOT_AVAILABLE')),
  ],
  ['are there when they are asked for by name', cluster(['a'])],
])('nothing is missing of topics that %s', async (_name, admin) => {
  await expect(assertTopics(admin, ['a', 'b'])).resolves.toBeUndefined()
})

test.each<[string, Admin, object]>([
  [
    'is not there',
    cluster(['a'], answered('UNKNOWN_TOPIC_OR_PARTITION')),
    { code: 'KAFKA_TOPIC_MISSING', message: expect.stringContaining('topic b does not exist') },
  ],
  [
    'may not be seen',
    cluster(['a'], answered('TOPIC_AUTHORIZATION_FAILED')),
    { message: 'topic b cannot be read: TOPIC_AUTHORIZATION_FAILED' },
  ],
  ['cannot be asked for', cluster(answered('NETWORK')), { message: 'NETWORK' }],
])('a topic that %s is told', async (_name, admin, expected) => {
  await expect(assertTopics(admin, ['a', 'b'])).rejects.toMatchObject(expected)
})
