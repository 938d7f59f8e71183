import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ClusterBroker } from '#infra/embedded/start-kafka-cluster.ts'
import { brokerNumbers } from '../fixture/roster.ts'
import type { Fixture } from '../fixture/start-fixture.ts'
import { awaitInSync } from './await-recovery.ts'
import type { Fault } from './fault.ts'

/** Two of three brokers must be up, so only one of these faults at a time. */
const brokerFault = { targets: brokerNumbers, holds: () => ['brokers'] }

function brokerOf({ parts }: Fixture, target: string): ClusterBroker {
  const broker = parts.cluster.brokers.find(({ nodeId }) => String(nodeId) === target)
  if (broker === undefined) throw new Error(`there is no broker ${target}`)
  return broker
}

const startAgain = (fixture: Fixture, broker: ClusterBroker) => async () => {
  await broker.restart()
  await awaitInSync(fixture)
}

export const killBroker: Fault = {
  ...brokerFault,
  kind: 'kill-broker',
  lastsMs: [2_000, 25_000],
  begin: async (fixture, target) => {
    const broker = brokerOf(fixture, target)
    await broker.kill()
    return startAgain(fixture, broker)
  },
}

/** Orderly: it hands its partitions over before it stops. */
export const stopBroker: Fault = {
  ...brokerFault,
  kind: 'stop-broker',
  lastsMs: [2_000, 10_000],
  begin: async (fixture, target) => {
    const broker = brokerOf(fixture, target)
    await broker.stop()
    return startAgain(fixture, broker)
  },
}

export const pauseBroker: Fault = {
  ...brokerFault,
  kind: 'pause-broker',
  lastsMs: [1_000, 15_000],
  begin: (fixture, target) => {
    const broker = brokerOf(fixture, target)
    broker.pause()
    return Promise.resolve(() => {
      broker.resume()
      return awaitInSync(fixture)
    })
  },
}

/** Kills the active controller, which decides the leaders of partitions. */
export const killController: Fault = {
  ...brokerFault,
  kind: 'kill-controller',
  targets: ['active'],
  lastsMs: [2_000, 15_000],
  begin: async (fixture) => {
    const broker = brokerOf(fixture, String(await activeController(fixture)))
    await broker.kill()
    return startAgain(fixture, broker)
  },
}

/** From the brokers' files of the last election: Kafka names any broker as the controller to clients. */
async function activeController({ parts }: Fixture): Promise<number> {
  const elections = await Promise.all(
    parts.cluster.brokers.map(async ({ nodeId, logFile }) => {
      const file = join(dirname(logFile), `broker-${nodeId}`, 'log', '__cluster_metadata-0', 'quorum-state')
      return JSON.parse(await readFile(file, 'utf8')) as { leaderId: number; leaderEpoch: number }
    }),
  )
  const last = elections.reduce((one, other) => (other.leaderEpoch > one.leaderEpoch ? other : one))
  if (last.leaderId < 0) throw new Error('no controller leads')
  return last.leaderId
}
