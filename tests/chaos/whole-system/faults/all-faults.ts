import { gateways } from '../fixture/roster.ts'
import { killProcess, pauseProcess, restartAll } from './end-process.ts'
import type { Fault } from './fault.ts'
import { killBroker, killController, pauseBroker, stopBroker } from './lose-broker.ts'
import { failOverPostgres, killPostgres, pausePostgres } from './lose-postgres.ts'
import { addPartition, moveLeaders } from './move-partitions.ts'
import { scaleGroup } from './scale-group.ts'
import { stepClock } from './step-clock.ts'
import { brokerLines, judgeLine, postgresLine, registryLine } from './worsen-line.ts'

/** Long enough that some deliveries use up their four attempts (7 s) and others do not. */
const failReceivers: Fault = {
  kind: 'fail-receivers',
  targets: ['error', 'reset', 'hang'],
  lastsMs: [3_000, 25_000],
  holds: () => ['receivers'],
  begin: ({ parts }, target) => {
    parts.receivers.behave(target as 'error' | 'reset' | 'hang')
    return Promise.resolve(() => parts.receivers.behave('well'))
  },
}

/** Fills the disk of a gateway's spool: calls continue, and calls that cannot be recorded are counted. */
const fillDisk: Fault = {
  kind: 'fill-disk',
  targets: gateways,
  lastsMs: [3_000, 20_000],
  holds: (target) => [target],
  begin: ({ disks }, target) => {
    if (disks === null) throw new Error('no disk can be filled here')
    const free = disks.fill(target)
    return Promise.resolve(free)
  },
}

export const allFaults: readonly Fault[] = [
  killProcess,
  pauseProcess,
  stepClock,
  killBroker,
  stopBroker,
  pauseBroker,
  killController,
  moveLeaders,
  addPartition,
  ...brokerLines,
  ...registryLine,
  killPostgres,
  pausePostgres,
  failOverPostgres,
  ...postgresLine,
  ...judgeLine,
  failReceivers,
  fillDisk,
  scaleGroup,
  restartAll,
]
