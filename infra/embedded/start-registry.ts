import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { awaitReady, FIRST_PATIENCE_MS } from './await-ready.ts'
import type { EmbeddedPart, Say, Waiting } from './embedded-part.ts'
import { fetchJars } from './fetch-jars.ts'
import { assertPortFree } from './free-port.ts'
import { startJava } from './start-java.ts'

export interface RegistryOptions extends Waiting {
  /** Holds the registry's database file, so schema ids survive restarts. */
  directory: string
  logFile: string
  port: number
  cacheDirectory: string
  say: Say
}

/**
 * Starts the Apicurio registry; the address is its Confluent-compatible API. It stores schemas in an H2 file.
 * Unlike its storage in Kafka or Postgres, that depends on no other part: all start at once, and any may be
 * external (4 s to the first answer on every start).
 */
export async function startRegistry(options: RegistryOptions): Promise<EmbeddedPart> {
  const { directory, logFile, port, cacheDirectory, say, patienceMs = FIRST_PATIENCE_MS, signal } = options
  const { registryJar, classArchive } = await fetchJars(cacheDirectory, say)
  await assertPortFree(port, 'the schema registry')
  await mkdir(directory, { recursive: true })
  const settings = {
    'quarkus.http.host': '127.0.0.1',
    'quarkus.http.port': port,
    'quarkus.http.access-log.enabled': false,
    'apicurio.storage.kind': 'sql',
    'apicurio.storage.sql.kind': 'h2',
    // H2 writes with half a second of delay by default: a killed registry would forget ids that records
    // already use. "async" is its file access that an interrupted thread does not close for all others.
    'apicurio.datasource.url': `jdbc:h2:async:${join(directory, 'registry')};WRITE_DELAY=0`,
    // By default the pool opens 20 connections before the first answer and gives each 5 s, too little on a
    // busy machine.
    'apicurio.datasource.jdbc.initial-size': 1,
    'apicurio.datasource.jdbc.min-size': 1,
    'apicurio.datasource.jdbc.max-size': 10,
    'quarkus.datasource.h2.jdbc.acquisition-timeout': '60S',
  }
  const properties = Object.entries(settings).map(([key, value]) => `-D${key}=${value}`)
  const registry = await startJava({
    args: [...properties, '-jar', registryJar],
    heapMb: 256,
    logFile,
    classArchive: classArchive('registry'),
    makesArchive: true,
  })
  const address = `http://127.0.0.1:${port}/apis/ccompat/v7`
  const probe = async () => {
    const answer = await fetch(`${address}/subjects`, { signal: AbortSignal.timeout(2000) })
    if (!answer.ok) throw new Error(`it answers ${answer.status}`)
    await answer.arrayBuffer()
  }
  try {
    const name = 'The schema registry'
    await awaitReady({ name, probe, process: registry, logFile, patienceMs, signal })
  } catch (error) {
    await registry.stop()
    throw error
  }
  return {
    name: 'registry',
    pid: registry.pid,
    address,
    logFile,
    exited: registry.exited,
    stop: registry.stop,
  }
}
