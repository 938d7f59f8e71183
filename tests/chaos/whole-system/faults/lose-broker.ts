import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ClusterBroker } from '#infra/embedded/start-kafka-cluster.ts'
import { brokerNumbers } from '../fixture/roster.ts'
import type { Fixture } from '../fixture/start-fixture.ts'
import { awaitInSync } from './await-recovery.ts'
import type { Fault } from './fault.ts'

/** Of three brokers two must be well: no two of these at once, whichever broker they strike. */
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

/** In order: it hands its partitions over before it goes. */
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

/** The one that leads the controllers, which decide who leads partitions. */
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

/** By what the brokers have written down of the last election: Kafka tells clients of any broker, not of this one. */
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
