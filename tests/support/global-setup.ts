import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Kafka, logLevel } from 'kafkajs'
import { startTemporary, type Addresses } from '#infra/embedded/start-temporary.ts'
import { quietQueues } from '#runtime/kafka/quiet-queues.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { awaitCoordinator } from './await-coordinator.ts'
import { findRunning } from './find-running.ts'
import { keepRun } from './run-state.ts'
import { dockerAnswers, startContainers } from './start-containers.ts'
import { startWithUndo, type Undo } from './undo.ts'
import { makeVolatileDirectory } from './volatile-directory.ts'

const CACHE = process.env['SLUICE_CACHE_DIR'] ?? join(import.meta.dirname, '..', '..', '.cache')
const KEPT_RUNNING = join(import.meta.dirname, '..', '..', '.cache', 'test-infra.json')

/** Finds or starts the infrastructure of the run and passes its addresses to the test processes. */
async function globalSetup(): Promise<void> {
  keepRun(await startWithUndo(startRun))
}

async function startRun(undo: Undo): Promise<Addresses & { id: string }> {
  const directory = await makeVolatileDirectory()
  undo.push(() => rm(directory, { recursive: true, force: true }))
  const { addresses, stop } = await obtain(directory)
  undo.push(stop)
  quietQueues()
  const kafka = new Kafka({ brokers: addresses.brokers, logLevel: logLevel.NOTHING })
  await withAdmin(kafka, (admin) => awaitCoordinator(admin, 'the-first'))
  const file = join(directory, 'infra.json')
  const { brokers, registryUrl, postgresUrl } = addresses
  await writeFile(file, JSON.stringify({ brokers, registryUrl, postgresUrl }))
  const id = randomBytes(3).toString('hex')
  process.env['SLUICE_TEST_INFRA'] = file
  process.env['SLUICE_TEST_RUN'] = id
  return { ...addresses, id }
}

async function obtain(directory: string): Promise<{ addresses: Addresses; stop: () => Promise<void> }> {
  const nothing = () => Promise.resolve()
  const named = process.env['SLUICE_TEST_INFRA']
  const running = await findRunning(named ?? KEPT_RUNNING)
  if (running) return { addresses: running, stop: nothing }
  if (named !== undefined)
    throw new Error(`SLUICE_TEST_INFRA names ${named}, but what it describes does not answer`)
  const started = (await dockerAnswers())
    ? await startContainers()
    : await startTemporary(CACHE, console.log, directory)
  return { addresses: started, stop: () => started.stop() }
}

export { globalSetup as default }
