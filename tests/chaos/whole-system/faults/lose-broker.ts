import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ClusterBroker } from '#infra/embedded/start-kafka-cluster.ts'
import { brokerNumbers } from '../stage/roster.ts'
import type { Stage } from '../stage/start-stage.ts'
import { awaitInSync } from './await-recovery.ts'
import type { Fault } from './fault.ts'

/** Of three brokers two must be well: no two of these at once, whichever broker they strike. */
const brokerFault = { targets: brokerNumbers, holds: () => ['brokers'] }

function brokerOf({ parts }: Stage, target: string): ClusterBroker {
  const broker = parts.cluster.brokers.find(({ nodeId }) => String(nodeId) === target)
  if (broker === undefined) throw new Error(`there is no broker ${target}`)
  return broker
}

const startAgain = (stage: Stage, broker: ClusterBroker) => async () => {
  await broker.restart()
  await awaitInSync(stage)
}

export const killBroker: Fault = {
  ...brokerFault,
  kind: 'kill-broker',
  lastsMs: [2_000, 25_000],
  begin: async (stage, target) => {
    const broker = brokerOf(stage, target)
    await broker.kill()
    return startAgain(stage, broker)
  },
}

/** In order: it hands its partitions over before it goes. */
export const stopBroker: Fault = {
  ...brokerFault,
  kind: 'stop-broker',
  lastsMs: [2_000, 10_000],
  begin: async (stage, target) => {
    const broker = brokerOf(stage, target)
    await broker.stop()
    return startAgain(stage, broker)
  },
}

export const pauseBroker: Fault = {
  ...brokerFault,
  kind: 'pause-broker',
  lastsMs: [1_000, 15_000],
  begin: (stage, target) => {
    const broker = brokerOf(stage, target)
    broker.pause()
    return Promise.resolve(() => {
      broker.resume()
      return awaitInSync(stage)
    })
  },
}

/** The one that leads the controllers, which decide who leads partitions. */
export const killController: Fault = {
  ...brokerFault,
  kind: 'kill-controller',
  targets: ['active'],
  lastsMs: [2_000, 15_000],
  begin: async (stage) => {
    const broker = brokerOf(stage, String(await activeController(stage)))
    await broker.kill()
    return startAgain(stage, broker)
  },
}

/** By what the brokers have written down of the last election: Kafka tells clients of any broker, not of this one. */
async function activeController({ parts }: Stage): Promise<number> {
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
