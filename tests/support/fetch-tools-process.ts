import { join } from 'node:path'
import { makeClassArchives } from '#infra/embedded/make-class-archives.ts'
import { ensureClient } from '#scripts/stack/ensure-client.ts'
import { findBrowser } from './find-browser.ts'
import { prometheusTool } from './prometheus-tools.ts'
import { dockerAnswers } from './start-containers.ts'

const cache = process.env['SLUICE_CACHE_DIR'] ?? join(import.meta.dirname, '..', '..', '.cache')

async function prepareParts(): Promise<string> {
  if (await dockerAnswers()) return 'a Docker engine'
  await makeClassArchives(cache, console.log)
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
