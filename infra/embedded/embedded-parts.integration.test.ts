import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { Kafka, logLevel } from 'kafkajs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { awaitTopics } from '../create-topics.ts'
import type { EmbeddedPart } from './embedded-part.ts'
import { fetchJars } from './fetch-jars.ts'
import { freePorts } from './free-port.ts'
import { signalGroup, type GuardedProcess } from './guarded-process.ts'
import { awaitBrokers, brokerAddress, launchBroker, startKafka } from './start-kafka.ts'
import { startPostgres } from './start-postgres.ts'
import { startRegistry } from './start-registry.ts'

const cacheDirectory = process.env['SLUICE_CACHE_DIR'] ?? join(import.meta.dirname, '..', '..', '.cache')
const DEADLINE_MS = 300_000
let directory: string
let running: EmbeddedPart | undefined

beforeAll(async () => {
  // Closed to other users, like a checkout under /root: Postgres must be able to pass.
  directory = await mkdtemp(join(tmpdir(), 'sluice-parts-'))
})

afterEach(async () => {
  await running?.stop()
  running = undefined
})

afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

/** Starts it, writes, kills it, starts it again on the same directory and port, and reads. */
async function survives(
  start: () => Promise<EmbeddedPart>,
  write: (address: string) => Promise<void>,
  read: (address: string) => Promise<void>,
): Promise<void> {
  running = await start()
  const { address, pid, exited } = running
  await write(address)
  signalGroup(pid, 'SIGKILL')
  expect(await exited).toEqual({ code: null, signal: 'SIGKILL' })
  running = await start()
  expect(running.address).toBe(address)
  await read(address)
}

const place = (name: string) => ({
  directory: join(directory, name),
  logFile: join(directory, `${name}.log`),
})
const say = () => undefined

test(
  'Kafka keeps its topics over a kill',
  async () => {
    const [port, controllerPort] = (await freePorts(2)) as [number, number]
    const withAdmin = async (address: string, work: (admin: ReturnType<Kafka['admin']>) => Promise<void>) => {
      const admin = new Kafka({ brokers: [address], logLevel: logLevel.NOTHING }).admin()
      await admin.connect()
      try {
        await work(admin)
      } finally {
        await admin.disconnect()
      }
    }
    await survives(
      () => startKafka({ ...place('kafka'), port, controllerPort, cacheDirectory, say }),
      (address) =>
        withAdmin(address, async (admin) => {
          await admin.createTopics({ topics: [{ topic: 'kept', numPartitions: 3 }], waitForLeaders: false })
          await awaitTopics(admin, [{ name: 'kept', partitions: 3 }])
        }),
      (address) =>
        withAdmin(address, async (admin) => {
          await awaitTopics(admin, [{ name: 'kept', partitions: 3 }])
          const { topics } = await admin.fetchTopicMetadata({ topics: ['kept'] })
          expect(topics[0]?.partitions).toHaveLength(3)
        }),
    )
  },
  DEADLINE_MS,
)

test(
  'a broker that stands still is given up, and waited for where it goes on or comes back from a kill',
  async () => {
    const [port, controllerPort] = (await freePorts(2)) as [number, number]
    const nodeDirectory = { ...place('slow-kafka'), port, controllerPort, nodeId: 1 }
    const jars = await fetchJars(cacheDirectory, say)
    const launch = () => {
      const clusterId = Buffer.from('sluice-slow-0000').toString('base64url')
      return launchBroker({ place: nodeDirectory, quorum: [nodeDirectory], clusterId, jars })
    }
    const ready = (broker: GuardedProcess, patienceMs: number) =>
      awaitBrokers([brokerAddress(nodeDirectory)], 1, {
        name: 'Kafka',
        process: broker,
        logFile: nodeDirectory.logFile,
        patienceMs,
      })
    const broker = await launch()
    try {
      broker.signal('SIGSTOP')
      await expect(ready(broker, 2_000)).rejects.toThrow(/^Kafka is not ready .* and did nothing for 2 s/)
      broker.signal('SIGCONT')
      await ready(broker, 300_000)
      broker.signal('SIGKILL')
      await broker.exited
    } finally {
      await broker.stop()
    }
    const again = await launch()
    try {
      await ready(again, 300_000)
    } finally {
      await again.stop()
    }
  },
  DEADLINE_MS,
)

test(
  'the registry keeps its schemas and their ids over a kill',
  async () => {
    const [port] = (await freePorts(1)) as [number]
    let id: unknown
    const register = async (address: string) => {
      const answer = await fetch(`${address}/subjects/kept-value/versions`, {
        method: 'POST',
        headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
        body: JSON.stringify({ schema: '{"type":"string"}' }),
      })
      return ((await answer.json()) as { id: unknown }).id
    }
    await survives(
      () => startRegistry({ ...place('registry'), port, cacheDirectory, say }),
      async (address) => {
        id = await register(address)
        expect(id).toEqual(expect.any(Number))
      },
      async (address) => {
        const subjects: unknown = await (await fetch(`${address}/subjects`)).json()
        expect(subjects).toEqual(['kept-value'])
        expect(await register(address)).toBe(id)
      },
    )
  },
  DEADLINE_MS,
)

test(
  'Postgres keeps its rows over a kill',
  async () => {
    const [port] = (await freePorts(1)) as [number]
    const query = async (connectionString: string, text: string) => {
      const client = new Client({ connectionString })
      await client.connect()
      try {
        return await client.query<{ id: number }>(text)
      } finally {
        await client.end()
      }
    }
    await survives(
      () => startPostgres({ ...place('postgres'), port }),
      async (address) => {
        await query(address, 'create table kept as select 7 as id')
      },
      async (address) => {
        expect((await query(address, 'select id from kept')).rows).toEqual([{ id: 7 }])
      },
    )
  },
  DEADLINE_MS,
)

test(
  'a port that is taken is named, with what wants it',
  async () => {
    const [port] = (await freePorts(1)) as [number]
    running = await startPostgres({ ...place('first'), port, durable: false })
    await expect(startPostgres({ ...place('second'), port })).rejects.toThrow(
      `Port ${port} for Postgres is taken`,
    )
  },
  DEADLINE_MS,
)
