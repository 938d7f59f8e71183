import type { Admin } from 'kafkajs'
import { messageOf, TransientError } from '../errors.ts'
import { typeOfError } from './protocol-errors.ts'
import { isWithoutLeader } from './read-topics.ts'

/** Transient: it can be created (infra/create-topics.ts) while records, or who reads them, wait. */
export function missingTopic(topic: string): TransientError {
  return new TransientError('KAFKA_TOPIC_MISSING', `topic ${topic} does not exist: scripts/migrate makes it`)
}

/** Throws `KAFKA_TOPIC_MISSING` for the first of the topics that is not there. */
export async function assertTopics(admin: Admin, names: readonly string[]): Promise<void> {
  const present = new Set(await listTopics(admin, names))
  const absent = names.find((name) => !present.has(name))
  // A list leaves out what may not be seen; whoever asks for it by name is told.
  if (absent !== undefined) await askFor(admin, absent)
}

/** While any partition of the cluster has no leader there is no list, and none of `names` is thought missing. */
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
