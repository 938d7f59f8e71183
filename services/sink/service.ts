import type { ProcessDependencies } from '#runtime/run-process.ts'
import { runTogether, type Part } from '#runtime/run-together.ts'
import type { Service } from '#runtime/service.ts'
import type { SinkConfig } from './config.ts'
import { createCallConsumer, createDeadLetterConsumer, createScoreConsumer } from './create-consumers.ts'
import { createServiceContext } from './service-context.ts'
import { createDayPartitions } from './stores/day-partitions.ts'
import { relayJob, upkeepJobs } from './upkeep/jobs.ts'
import { createUpkeep } from './upkeep/upkeep-job.ts'

/** The sink: three consumers and the upkeep jobs, in one process. */
export function createSink(config: SinkConfig, dependencies: ProcessDependencies): Service {
  const context = createServiceContext(config, dependencies)
  const { log, clock, pool, producer } = context
  const partitions = createDayPartitions({ pool, clock, maxAgeDays: config.SINK_LATE_MAX_DAYS })
  const onEvents = () => upkeep.get(relayJob)?.wake()
  const upkeep = createUpkeep({ ...context, partitions, onEvents }, upkeepJobs)
  const connections: Part = { start: () => Promise.resolve(), stop: () => pool.end() }
  return runTogether(
    [
      connections,
      producer,
      ...upkeep.values(),
      createDeadLetterConsumer(context),
      createScoreConsumer(context, onEvents),
      createCallConsumer(context, partitions, onEvents),
    ],
    log,
  )
}
