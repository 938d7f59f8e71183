import { PermanentError } from '#runtime/errors.ts'
import type { GroupHandler } from '#runtime/kafka/records.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { checkEvent } from '../steps/check-record.ts'
import { selectPlainly, type Decision } from '../steps/select-webhooks.ts'
import type { EventTraces } from '../event-traces.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import type { JoinEvent } from '../steps/open-message.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { WebhookStore } from '../stores/webhook-store.ts'
import type { Attempt } from './attempt.ts'
import type { BeginDeliveries, BeginEnd } from './begin-deliveries.ts'
import { firstDeliveries, type DeliverFirst } from './deliver-first.ts'

export interface GroupDependencies {
  webhooks: Pick<WebhookStore, 'ofProject'>
  first: DeliverFirst
  begin: BeginDeliveries
  joinEvent: JoinEvent
  metrics: Pick<NotifierMetrics, 'selections'>
  eventTraces?: EventTraces | undefined
}

interface GroupAttempt extends Attempt {
  eventIndex: number
}

interface Plan {
  decided: readonly Pick<Decision, 'selection'>[]
  attempts: readonly Attempt[]
}

/** Events for more webhooks are handled one by one. */
const maxGroupWebhooks = 20

/**
 * Begins the deliveries of many events by the same statements. Hands back an event that needs more than free
 * permits: an expression, more than 20 webhooks, a destination, a wait, or an error of its own.
 */
export function createHandleGroup(dependencies: GroupDependencies): GroupHandler<RaisedEvent> {
  const { webhooks, begin, metrics, eventTraces } = dependencies
  return async (records, handBack, over) => {
    for (const { value, span } of records) if (span !== undefined) eventTraces?.set(value, span.context)
    const events = records.map(({ value }) => (checkEvent(value) === undefined ? value : undefined))
    const ids = new Set(events.flatMap((event) => event?.project_id ?? []))
    const known = new Map(
      await Promise.all(Array.from(ids, async (id) => [id, await webhooks.ofProject(id)] as const)),
    )
    const plans = planAll(events, known, dependencies)
    const end = (eventIndex: number) => {
      for (const { selection } of plans[eventIndex]?.decided ?? []) metrics.selections.inc({ selection })
      // Frees its memory before the other events are over.
      plans[eventIndex] = undefined
      over(eventIndex)
    }
    const attempts: GroupAttempt[] = []
    for (const [eventIndex, plan] of plans.entries()) {
      if (plan === undefined) handBack(eventIndex)
      else if (plan.attempts.length === 0) end(eventIndex)
      else for (const attempt of plan.attempts) attempts.push({ ...attempt, eventIndex })
    }
    await begin(attempts, countEnds(attempts, handBack, end))
  }
}

/** Plans each event; undefined: it has to be handled by itself. Keeps no permit if it throws. */
function planAll(
  events: readonly (RaisedEvent | undefined)[],
  known: ReadonlyMap<string, readonly Webhook[]>,
  dependencies: GroupDependencies,
): (Plan | undefined)[] {
  const plans: (Plan | undefined)[] = []
  try {
    for (const event of events)
      plans.push(event && planEvent(event, known.get(event.project_id) ?? [], dependencies))
  } catch (error) {
    for (const plan of plans) for (const { release } of plan?.attempts ?? []) release()
    throw error
  }
  return plans
}

function planEvent(
  event: RaisedEvent,
  known: readonly Webhook[],
  { joinEvent, first }: GroupDependencies,
): Plan | undefined {
  if (known.length > maxGroupWebhooks) return undefined
  if (known.length === 0) return { decided: [], attempts: [] }
  try {
    const data = joinEvent(event)
    const decided = selectPlainly(known, event, data)
    const waits = decided?.some(
      ({ webhook, selection }) => selection === 'selected' && webhook.kind !== 'webhook',
    )
    if (waits === true) return undefined
    const attempts = decided && first.acquireAll(firstDeliveries(event, data, decided))
    return attempts && { decided, attempts }
  } catch (error) {
    // Handled by itself, an unreadable event becomes a dead letter.
    if (error instanceof PermanentError) return undefined
    throw error
  }
}

/**
 * An event is over with its last delivery. Handed back earlier, it would find its other deliveries claimed.
 */
function countEnds(
  attempts: readonly GroupAttempt[],
  handBack: (index: number) => void,
  over: (index: number) => void,
): (attempt: GroupAttempt, end: BeginEnd) => void {
  const left = new Map<number, number>()
  const failed = new Set<number>()
  for (const { eventIndex } of attempts) left.set(eventIndex, (left.get(eventIndex) ?? 0) + 1)
  return ({ eventIndex }, end) => {
    if (end !== 'made') failed.add(eventIndex)
    const others = (left.get(eventIndex) ?? 0) - 1
    left.set(eventIndex, others)
    if (others === 0) (failed.has(eventIndex) ? handBack : over)(eventIndex)
  }
}
