import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EmbeddedPart, Say } from './embedded-part.ts'
import { freePorts } from './free-port.ts'
import { startKafka } from './start-kafka.ts'
import { startPostgres } from './start-postgres.ts'
import { startRegistry } from './start-registry.ts'
import { startTogether, stopTogether } from './start-together.ts'

/** Addresses of a broker, a registry and a database. */
export interface Addresses {
  brokers: string[]
  registryUrl: string
  /** A superuser's URL, which may create databases and roles. */
  postgresUrl: string
}

export interface TemporaryInfrastructure extends Addresses {
  parts: readonly EmbeddedPart[]
  /** Stops all three and deletes their data. */
  readonly stop: () => Promise<void>
}

/**
 * Starts all three parts on free ports, with data in a new directory of `parent`, without durability: for
 * tests and benchmarks.
 */
export async function startTemporary(
  cacheDirectory: string,
  say: Say,
  parent = tmpdir(),
): Promise<TemporaryInfrastructure> {
  const directory = await mkdtemp(join(parent, 'sluice-'))
  const [port, controllerPort, registryPort, postgresPort] = (await freePorts(4)) as [
    number,
    number,
    number,
    number,
  ]
  const place = (name: string) => ({
    directory: join(directory, name),
    logFile: join(directory, `${name}.log`),
  })
  const deleteData = () => rm(directory, { recursive: true, force: true })
  const parts = await startTogether([
    () => startKafka({ ...place('kafka'), port, controllerPort, cacheDirectory, say }),
    () => startRegistry({ ...place('registry'), port: registryPort, cacheDirectory, say }),
    () => startPostgres({ ...place('postgres'), port: postgresPort, durable: false }),
  ]).catch(async (error: unknown) => {
    await deleteData()
    throw error
  })
  const [kafka, registry, postgres] = parts as [EmbeddedPart, EmbeddedPart, EmbeddedPart]
  return {
    brokers: [kafka.address],
    registryUrl: registry.address,
    postgresUrl: postgres.address,
    parts,
    stop: async () => {
      await stopTogether(parts)
      await deleteData()
    },
  }
}
