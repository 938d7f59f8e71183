import type { Admin } from 'kafkajs'
import { messageOf, TransientError } from '../errors.ts'
import { typeOfError } from './protocol-errors.ts'
import { isWithoutLeader } from './read-topics.ts'

/** Transient: infra/create-topics.ts can create it while records and readers wait. */
export function missingTopic(topic: string): TransientError {
  return new TransientError('KAFKA_TOPIC_MISSING', `topic ${topic} does not exist: scripts/migrate makes it`)
}

/** Throws `KAFKA_TOPIC_MISSING` for the first topic that does not exist. */
export async function assertTopics(admin: Admin, names: readonly string[]): Promise<void> {
  const present = new Set(await listTopics(admin, names))
  const absent = names.find((name) => !present.has(name))
  // A list omits topics without permission; a request by name reports them.
  if (absent !== undefined) await askFor(admin, absent)
}

/** The cluster gives no list while any partition has no leader; then none of `names` counts as missing. */
async function listTopics(admin: Admin, names: readonly string[]): Promise<readonly string[]> {
  try {
    return await admin.listTopics()
  } catch (error) {
    if (isWithoutLeader(error)) return names
    throw error
  }
}

async function askFor(admin: Admin, topic: string): Promise<void> {
  try {
    await admin.fetchTopicMetadata({ topics: [topic] })
  } catch (error) {
    if (typeOfError(error) === 'UNKNOWN_TOPIC_OR_PARTITION') throw missingTopic(topic)
    throw new Error(`topic ${topic} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}
