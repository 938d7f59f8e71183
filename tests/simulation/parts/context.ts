import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createSealer } from '#runtime/sealing.ts'
import { topics } from '#schemas/topics.ts'
import type { Database } from '../tables/database.ts'
import type { Cluster } from '../world/cluster.ts'
import { createSimCodec } from '../world/sim-codec.ts'
import { createSimKafka, createSimProducer } from '../world/sim-kafka.ts'
import type { World } from '../world/world.ts'

const log = createLog('simulation', 'silent')
/** Shared by all: metrics are not checked. */
const metrics = createMetrics()
const sealer = createSealer([])

/** The service context of every simulated process. `clock` reads virtual time (virtual-time.ts). */
export function createServiceContext(world: World, cluster: Cluster, database: Database) {
  const codecs = {
    calls: createSimCodec(world, topics.requestLogged.schema),
    jobs: createSimCodec(world, topics.scoreJobs.schema),
    scores: createSimCodec(world, topics.scoreRecorded.schema),
    events: createSimCodec(world, topics.eventRaised.schema),
    deliveries: createSimCodec(world, topics.deliveryDue.schema),
  }
  const producer = createSimProducer(cluster)
  const kafka = createSimKafka(cluster)
  // Longer waits mean fewer empty fetches, which would be most of a seed.
  const group = { maxWaitMs: 1_000 }
  return {
    group,
    world,
    cluster,
    database,
    log,
    metrics,
    clock: systemClock,
    sealer,
    producer,
    kafka,
    codecs,
    /** Large calls that were too slow for detectors once, for all scorers (scorers.ts). */
    slowCalls: new Set<string>(),
  }
}

export type SimContext = ReturnType<typeof createServiceContext>
