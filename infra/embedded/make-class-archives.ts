import { existsSync } from 'node:fs'
import type { Say } from './embedded-part.ts'
import { fetchJars } from './fetch-jars.ts'
import { startTemporary } from './start-temporary.ts'

/**
 * Starts and stops all parts once, if they never ran: later starts then take half the CPU time
 * (start-java.ts).
 */
export async function makeClassArchives(cacheDirectory: string, say: Say): Promise<void> {
  const { classArchive } = await fetchJars(cacheDirectory, say)
  if (existsSync(classArchive('kafka')) && existsSync(classArchive('registry'))) return
  const { stop } = await startTemporary(cacheDirectory, say)
  await stop()
}
