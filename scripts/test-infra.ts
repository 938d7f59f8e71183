import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { startTemporary } from '#infra/embedded/start-temporary.ts'

const cacheDirectory = process.env['SLUICE_CACHE_DIR'] ?? join(import.meta.dirname, '..', '.cache')
const file = join(import.meta.dirname, '..', '.cache', 'test-infra.json')

async function run(): Promise<void> {
  const stopped = new Promise<string>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve(signal))
  })
  const { brokers, registryUrl, postgresUrl, parts, stop } = await startTemporary(cacheDirectory, console.log)
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, JSON.stringify({ brokers, registryUrl, postgresUrl, pid: process.pid }, null, 2))
  console.log(
    `kafka ${brokers.join()}, registry ${registryUrl}, postgres ${postgresUrl}\nwritten to ${file}; Ctrl-C ends it`,
  )
  const ended = parts.map(({ name, exited }) => exited.then(() => `${name} ended`))
  const reason = await Promise.race([stopped, ...ended])
  console.log(`stopping: ${reason}`)
  await rm(file, { force: true })
  await stop()
}

try {
  await run()
} catch (error) {
  if (!(error instanceof CannotStart)) throw error
  console.error(error.message)
  process.exit(1)
}
