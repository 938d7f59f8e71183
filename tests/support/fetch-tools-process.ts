import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fetchJars } from '#infra/embedded/fetch-jars.ts'
import { startTemporary } from '#infra/embedded/start-temporary.ts'
import { ensureClient } from '#scripts/stack/ensure-client.ts'
import { findBrowser } from './find-browser.ts'
import { prometheusTool } from './prometheus-tools.ts'
import { dockerAnswers } from './start-containers.ts'

const cache = process.env['SLUICE_CACHE_DIR'] ?? join(import.meta.dirname, '..', '..', '.cache')

/**
 * Fetches the embedded parts. Starts and stops them once, if they never ran: later starts then take half the
 * CPU time (start-java.ts).
 */
async function prepareParts(): Promise<string> {
  if (await dockerAnswers()) return 'a Docker engine'
  const { classArchive } = await fetchJars(cache, console.log)
  if (!existsSync(classArchive('kafka')) || !existsSync(classArchive('registry')))
    await (await startTemporary(cache, console.log)).stop()
  return 'Kafka and the registry'
}

/** Built once here, so that parallel test files do not each build it. */
async function prepareClient(): Promise<string> {
  await ensureClient(console.log)
  return "the dashboard's client"
}

/**
 * Fetches what tests need besides packages, one after the other: parallel fetches would meet at the package
 * manager's lock. Failures are reported here and by the test concerned.
 */
const problems: string[] = []
for (const fetchTool of [() => prometheusTool('promtool'), findBrowser, prepareParts, prepareClient]) {
  try {
    console.log(`found ${await fetchTool()}`)
  } catch (error) {
    problems.push((error as Error).message)
  }
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
