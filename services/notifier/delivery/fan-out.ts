import { PermanentError } from '#runtime/errors.ts'
import type { GroupHandler, RecordHandler } from '#runtime/kafka/records.ts'
import { deadLetter, ok } from '#runtime/outcome.ts'
import { createTakeTurn } from '#runtime/take-turns.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { JoinedData } from '#schemas/join-event.ts'
import { checkEvent } from '../steps/check-record.ts'
import { chunkRows } from '../steps/chunk-deliveries.ts'
import type { ExpressionCache } from '../steps/expression-cache.ts'
import { offerEvent, selectWebhooks, type Decision } from '../steps/select-webhooks.ts'
import { createBatcher } from '../stores/batcher.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { ExpressionFailure, WebhookStore } from '../stores/webhook-store.ts'
import { firstDeliveries } from './deliver-first.ts'
import { createHandleGroup, type GroupDependencies } from './fan-out-group.ts'

export interface FanOutDependencies extends GroupDependencies {
  webhooks: Pick<WebhookStore, 'ofProject' | 'noteExpressionFailures'>
  expressions: ExpressionCache
}

/** Events become deliveries. An event's offset moves once each delivery is made, set aside or handed over. */
export interface FanOut {
  /** One event, whatever it needs: expressions, turns, a wait for permits, an error of its own. */
  handle: RecordHandler<RaisedEvent>
  /** Events that begin in the same turn. What a group cannot do goes to `handle`. */
  handleGroup: GroupHandler<RaisedEvent>
}

/** Events with more take turns: 256 of 1,000 webhooks each took 770 MB and delayed other deliveries. */
const manyDeliveries = 100

export function createFanOut(dependencies: FanOutDependencies): FanOut {
  const { webhooks, first, joinEvent, metrics } = dependencies
  const select = createSelect(dependencies)
  const inTurn = createPartitionTurns()
  const noteFailure = createBatcher<ExpressionFailure, undefined>({
    maxItems: chunkRows,
    async run(failures) {
      await webhooks.noteExpressionFailures(failures)
      return failures.map(() => undefined)
    },
  })
  return {
    async handle({ value: event, partition }, signal) {
      const fault = checkEvent(event)
      if (fault !== undefined) return deadLetter(fault)
      const known = await webhooks.ofProject(event.project_id)
      if (known.length === 0) return ok()
      const data = joinEvent(event)
      const decided = await select(known, event, data, partition, signal)
      for (const { selection } of decided) metrics.selections.inc({ selection })
      const failures = decided.flatMap(({ webhook, failure }) =>
        failure === null ? [] : [{ webhook, failure }],
      )
      const firsts = firstDeliveries(event, data, decided)
      if (firsts.length + failures.length === 0) return ok()
      const deliver = () => settleAll([...firsts.map(first.deliver), ...failures.map(noteFailure)])
      await (firsts.length > manyDeliveries ? inTurn(partition, signal, deliver) : deliver())
      return ok()
    },
    handleGroup: createHandleGroup(dependencies),
  }
}

/**
 * Expressions may take half a second an event (`filter-allowance.ts`), so such events of a partition take turns,
 * and all of them yield to the heartbeat: without it the consumer would leave its group.
 */
function createSelect({ expressions }: FanOutDependencies) {
  const takeTurn = createTakeTurn()
  const inTurn = createPartitionTurns()
  return (
    webhooks: readonly Webhook[],
    event: RaisedEvent,
    data: JoinedData,
    partition: number,
    signal: AbortSignal,
  ): Promise<Decision[]> => {
    const offered = offerEvent(event, data)
    const decide = () => selectWebhooks(webhooks, offered, expressions, takeTurn, () => performance.now())
    if (webhooks.every(({ filterExpression }) => filterExpression === null)) return decide()
    return inTurn(partition, signal, decide)
  }
}

/** Runs the work of each partition one after the other. Drops waiting work when the partition is lost. */
function createPartitionTurns() {
  const latest = new Map<number, Promise<unknown>>()
  return <T>(partition: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const working = (latest.get(partition) ?? Promise.resolve()).then(() => {
      signal.throwIfAborted()
      return work()
    })
    latest.set(
      partition,
      working.catch(() => undefined),
    )
    return working
  }
}

/** Waits for all: an event retried while an attempt is in flight would find that attempt claimed. */
async function settleAll(works: readonly Promise<unknown>[]): Promise<void> {
  const ends = await Promise.allSettled(works)
  const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
  // A permanent error ends the event, so a transient one is retried first.
  if (failed.length > 0) throw failed.find((error) => !(error instanceof PermanentError)) ?? failed[0]
}
