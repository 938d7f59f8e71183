import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Kafka, logLevel } from 'kafkajs'
import { startTemporary } from '#infra/embedded/start-temporary.ts'
import { quietQueues } from '#runtime/kafka/quiet-queues.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { awaitCoordinator } from '../support/await-coordinator.ts'
import type { PlatformContext } from './platform-part.ts'

/** Kafka, the registry and Postgres, where the helpers of integration tests find them. */
export async function startInfrastructure(
  { jars, say, undo }: PlatformContext,
  directory: string,
): Promise<void> {
  const infrastructure = await startTemporary(jars, say)
  undo.push(infrastructure.stop)
  const { brokers, registryUrl, postgresUrl } = infrastructure
  const file = join(directory, 'infra.json')
  await writeFile(file, JSON.stringify({ brokers, registryUrl, postgresUrl }))
  process.env['SLUICE_TEST_INFRA'] = file
  process.env['SLUICE_TEST_RUN'] = randomBytes(3).toString('hex')
  quietQueues()
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING })
  await withAdmin(kafka, (admin) => awaitCoordinator(admin, 'the-first'))
}
