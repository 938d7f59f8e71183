import type { GroupHandler } from '#runtime/kafka/records.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { BeginTogether, OnEnd } from './begin-together.ts'
import { firstAttempt } from './fan-out-handler.ts'
import type { PlacedDelivery } from './flight.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import { buildEnvelope } from '../steps/build-envelope.ts'
import { checkEvent } from '../steps/check-record.ts'
import type { JoinEvent } from '../steps/open-event.ts'
import { isTestEvent } from '../steps/open-message.ts'
import { selectPlainly, type Decision } from '../steps/select-webhooks.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { WebhookStore } from '../stores/webhook-store.ts'

export interface FanOutTogetherDependencies {
  webhooks: WebhookStore
  together: BeginTogether
  joinEvent: JoinEvent
  metrics: NotifierMetrics
}

/** Events for more webhooks have turns of their own (fan-out-handler.ts). */
const maxWebhooks = 20

/**
 * Most events by far are for a few webhooks without expressions whose endpoints have places: their deliveries are begun together. Any other is
 * handed back, and fan-out-handler.ts works on it by itself.
 */
export function createFanOutTogether(dependencies: FanOutTogetherDependencies): GroupHandler<RaisedEvent> {
  const { webhooks, together, metrics } = dependencies
  return async (records, handBack, over) => {
    const sound = records.map(({ value }) => (checkEvent(value) === undefined ? value : undefined))
    const known = await findWebhooks(sound, webhooks)
    const plans = sound.map(
      (event, eventIndex) =>
        event && planPlaced(event, eventIndex, known.get(event.project_id) ?? [], dependencies),
    )
    const placed = plans.flatMap((plan) => plan?.placed ?? [])
    const overAndCounted = (eventIndex: number) => {
      for (const { selection } of plans[eventIndex]?.decided ?? []) metrics.selections.inc({ selection })
      // Kept no longer: another of the group may take its time.
      plans[eventIndex] = undefined
      over(eventIndex)
    }
    for (const [eventIndex, plan] of plans.entries()) {
      if (plan === undefined) handBack(eventIndex)
      else if (plan.placed.length === 0) overAndCounted(eventIndex)
    }
    await together.begin(placed, countEnds(placed, handBack, overAndCounted))
  }
}

/** An event is over when all of its deliveries are: what is under way when it is tried again would be claimed, by us. */
function countEnds(
  placed: readonly PlacedDelivery[],
  handBack: (index: number) => void,
  over: (index: number) => void,
): OnEnd {
  const left = new Map<number, number>()
  const failed = new Set<number>()
  for (const { eventIndex } of placed) left.set(eventIndex, (left.get(eventIndex) ?? 0) + 1)
  return ({ eventIndex }, isMade) => {
    if (!isMade) failed.add(eventIndex)
    const others = (left.get(eventIndex) ?? 0) - 1
    left.set(eventIndex, others)
    if (others === 0) (failed.has(eventIndex) ? handBack : over)(eventIndex)
  }
}

async function findWebhooks(
  events: readonly (RaisedEvent | undefined)[],
  webhooks: WebhookStore,
): Promise<Map<string, readonly Webhook[]>> {
  const ids = new Set(events.flatMap((event) => event?.project_id ?? []))
  return new Map(
    await Promise.all(Array.from(ids, async (id) => [id, await webhooks.ofProject(id)] as const)),
  )
}

interface Plan {
  decided: readonly Pick<Decision, 'selection'>[]
  placed: readonly PlacedDelivery[]
}

/** undefined: it has to be worked on by itself, where is said why. */
function planPlaced(
  event: RaisedEvent,
  eventIndex: number,
  known: readonly Webhook[],
  { joinEvent, together }: FanOutTogetherDependencies,
): Plan | undefined {
  if (known.length > maxWebhooks) return undefined
  if (known.length === 0) return { decided: [], placed: [] }
  try {
    const data = joinEvent(event)
    const decided = selectPlainly(known, event, data)
    if (decided === undefined) return undefined
    const selected = decided.filter(({ selection }) => selection === 'selected')
    if (selected.length === 0) return { decided, placed: [] }
    const message = { body: buildEnvelope(event, data), isTest: isTestEvent(data) }
    const placed = together.place(
      selected.map(({ webhook }) => {
        const delivery = firstAttempt(event, webhook.id)
        return { eventIndex, delivery, webhook, message }
      }),
    )
    return placed && { decided, placed }
  } catch {
    // Whatever it is comes again there.
    return undefined
  }
}
