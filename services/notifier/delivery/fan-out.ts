import { PermanentError } from '#runtime/errors.ts'
import type { RecordHandler } from '#runtime/kafka/records.ts'
import { deadLetter, ok } from '#runtime/outcome.ts'
import { createTakeTurn } from '#runtime/take-turns.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { checkEvent } from '../steps/check-record.ts'
import { chunkRows } from '../steps/chunk-deliveries.ts'
import type { ExpressionCache } from '../steps/expression-cache.ts'
import { offerEvent, selectWebhooks } from '../steps/select-webhooks.ts'
import { createBatcher } from '../stores/batcher.ts'
import type { ExpressionFailure, WebhookStore } from '../stores/webhook-store.ts'
import { firstDeliveries } from './deliver-first.ts'
import { createHandleGroup, type GroupDependencies } from './fan-out-group.ts'

export interface FanOutDependencies extends GroupDependencies {
  webhooks: Pick<WebhookStore, 'ofProject' | 'noteExpressionFailures'>
  expressions: ExpressionCache
}

export type FanOut = ReturnType<typeof createFanOut>

/** Events with more take turns: 256 of 1,000 webhooks each took 770 MB and delayed other deliveries. */
const manyDeliveries = 100

/** Events become deliveries. An event's offset moves once each delivery is made, set aside or handed over. */
export function createFanOut(dependencies: FanOutDependencies) {
  const { webhooks, first, joinEvent, metrics, expressions, eventTraces } = dependencies
  const takeTurn = createTakeTurn()
  const expressionsInTurn = createPartitionTurns()
  const inTurn = createPartitionTurns()
  const noteFailure = createBatcher<ExpressionFailure, undefined>({
    maxItems: chunkRows,
    async run(failures) {
      await webhooks.noteExpressionFailures(failures)
      return failures.map(() => undefined)
    },
  })
  const handle: RecordHandler<RaisedEvent> = async ({ value: event, partition, span }, signal) => {
    if (span !== undefined) eventTraces?.set(event, span.context)
    const fault = checkEvent(event)
    if (fault !== undefined) return deadLetter(fault)
    const known = await webhooks.ofProject(event.project_id)
    if (known.length === 0) return ok()
    const data = joinEvent(event)
    const offered = offerEvent(event, data)
    const decide = () => selectWebhooks(known, offered, expressions, takeTurn, () => performance.now())
    const hasExpression = known.some(({ filterExpression }) => filterExpression !== null)
    // Expressions may take half a second an event (filter-allowance.ts): such events of a partition take
    // turns, and yield to the heartbeat, without which the consumer would leave its group.
    const decided = await (hasExpression ? expressionsInTurn(partition, signal, decide) : decide())
    for (const { selection } of decided) metrics.selections.inc({ selection })
    const failures = decided.flatMap(({ webhook, failure }) =>
      failure === null ? [] : [{ webhook, failure }],
    )
    const firsts = firstDeliveries(event, data, decided)
    if (firsts.length + failures.length === 0) return ok()
    const deliver = () => settleAll([...firsts.map(first.deliver), ...failures.map(noteFailure)])
    await (firsts.length > manyDeliveries ? inTurn(partition, signal, deliver) : deliver())
    return ok()
  }
  return {
    /** One event, whatever it needs: expressions, turns, a wait for permits, an error of its own. */
    handle,
    /** Events that begin in the same turn. What a group cannot do goes to `handle`. */
    handleGroup: createHandleGroup(dependencies),
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
