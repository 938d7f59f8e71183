import { killProcess, pauseProcess, restartAll } from './end-process.ts'
import { failReceivers } from './fail-receivers.ts'
import type { Fault } from './fault.ts'
import { fillDisk } from './fill-disk.ts'
import { killBroker, killController, pauseBroker, stopBroker } from './lose-broker.ts'
import { failOverPostgres, killPostgres, pausePostgres } from './lose-postgres.ts'
import { addPartition, moveLeaders } from './move-partitions.ts'
import { scaleGroup } from './scale-group.ts'
import { stepClock } from './step-clock.ts'
import { brokerLines, judgeLine, postgresLine, registryLine } from './worsen-line.ts'

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
