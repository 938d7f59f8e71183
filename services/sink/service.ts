import type { ProcessDependencies } from '#runtime/run-process.ts'
import { runTogether } from '#runtime/run-together.ts'
import type { Service } from '#runtime/service.ts'
import type { SinkConfig } from './config.ts'
import { createCallConsumer, createDeadLetterConsumer, createScoreConsumer } from './create-consumers.ts'
import { createSinkContext } from './service-context.ts'
import { createDayPartitions } from './stores/day-partitions.ts'
import { relayJob, upkeepJobs } from './upkeep/jobs.ts'
import { createUpkeep } from './upkeep/upkeep-job.ts'

/** The sink: three consumers and the upkeep jobs, in one process. */
export function createSink(config: SinkConfig, dependencies: ProcessDependencies): Service {
  const context = createSinkContext(config, dependencies)
  const { log, clock, pool, connections } = context
  const partitions = createDayPartitions({ pool, clock, maxAgeDays: config.SINK_LATE_MAX_DAYS })
  const onEvents = () => upkeep.get(relayJob)?.wake()
  const upkeep = createUpkeep({ ...context, partitions, onEvents }, upkeepJobs)
  return runTogether(
    [
      ...connections,
      ...upkeep.values(),
      createDeadLetterConsumer(context),
      createScoreConsumer(context, onEvents),
      createCallConsumer(context, partitions, onEvents),
    ],
    log,
  )
}
