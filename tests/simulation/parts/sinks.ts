import { createBatchConsumer } from '#runtime/kafka/batch-consumer.ts'
import type { BatchHandler } from '#runtime/kafka/records.ts'
import { runTogether } from '#runtime/run-together.ts'
import type { Service } from '#runtime/service.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { topics } from '#schemas/topics.ts'
import { createCallHandler } from '#services/sink/handle-calls.ts'
import { createScoreHandler } from '#services/sink/handle-scores.ts'
import { createPeriodicTask } from '#services/sink/upkeep/periodic-task.ts'
import { createEventPublisher, createJobPublisher } from '#services/sink/publish-records.ts'
import { createEventRelay } from '#services/sink/upkeep/relay-events.ts'
import { dayOf } from '#services/sink/stores/day-partitions.ts'
import { createSimCallStore, createSimOutbox, createSimScoreStore } from '../tables/call-tables.ts'
import { beginningMs } from '../world/world.ts'
import type { SimContext } from './context.ts'

/** Metadata of a call whose record kills every process that handles it. */
export const killerMetadata = '{"ends":"the process"}'
const dayMs = 86_400_000

/** Assembled like services/sink/service.ts and create-consumers.ts. Partitions exist for a week. */
export function startSimSink(context: SimContext): Service {
  const { world, database, producer, codecs, log, clock } = context
  const relay = createPeriodicTask({
    ...context,
    name: 'outbox_relay',
    intervalMs: 1_000,
    run: createEventRelay({
      ...context,
      outbox: createSimOutbox(database),
      publishEvents: createEventPublisher({
        producer,
        topic: topics.eventRaised.name,
        encoder: codecs.events,
        traceOf: () => undefined,
      }),
    }),
    clock,
    log,
  })
  const onEvents = () => relay.wake()
  const publish = {
    kept: createJobPublisher({ producer, topic: topics.scoreJobs.name, encoder: codecs.jobs }),
    ephemeral: createJobPublisher({ producer, topic: topics.scoreJobsEphemeral.name, encoder: codecs.jobs }),
  }
  const isWritable = (day: string) => day >= dayOf(beginningMs - 7 * dayMs) && day <= dayOf(beginningMs)
  const calls = createBatchConsumer({
    ...context,
    groupId: 'sink-calls',
    topics: [topics.requestLogged.name, topics.requestEphemeral.name],
    decoder: codecs.calls,
    handler: endedByKillers(
      context,
      createCallHandler({
        ...context,
        kindOf: (topic) => (topic === topics.requestEphemeral.name ? 'ephemeral' : 'kept'),
        partitions: {
          make: () => Promise.resolve(),
          writable: (days) => database.ask(() => new Set([...days].filter(isWritable))),
        },
        calls: createSimCallStore(database),
        publishJobs: (jobs, kind) => publish[kind](jobs),
        onEvents,
      }),
    ),
    maxBatchRecords: 3,
    partitionsConcurrently: 2,
    omitDeadLetterValue: (topic) => topic === topics.requestEphemeral.name,
  })
  const scores = createBatchConsumer({
    ...context,
    groupId: 'sink-scores',
    topics: [topics.scoreRecorded.name],
    decoder: codecs.scores,
    handler: createScoreHandler({
      ...context,
      scores: createSimScoreStore(database),
      writeLine: ({ request_id, scorer }) => world.note(() => `line ${request_id} ${scorer}`),
      onEvents,
      // The simulation restores no database.
      awaitCalls: () => Promise.resolve(false),
      dashboardUrl: 'http://localhost:3000',
    }),
    maxBatchRecords: 4,
  })
  return runTogether([relay, scores, calls], log)
}

function endedByKillers({ world }: SimContext, handler: BatchHandler<LoggedCall>): BatchHandler<LoggedCall> {
  return async (batch, signal) => {
    const process = world.current
    if (process !== null && batch.records.some(({ value }) => value.metadata === killerMetadata)) {
      world.kill(process, 'it works on a record that ends it', false)
      await new Promise(() => undefined)
    }
    return handler(batch, signal)
  }
}
