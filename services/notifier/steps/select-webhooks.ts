import { PermanentError } from '#runtime/errors.ts'
import { toFilterValues, type FilterValues } from '#runtime/filter-values.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { expressionValues, type JoinedData } from '#schemas/join-event.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { ExpressionCache } from './expression-cache.ts'

/** Why a webhook gets an event or does not; labels of a metric. */
export type Selection = 'selected' | 'other_event' | 'filtered' | 'expression_failed'

export interface Decision {
  selection: Selection
  /** What the expression failed with, for the webhook's owner. */
  failure: string | null
}

/** An event that webhooks choose. */
export interface OfferedEvent {
  event: RaisedEvent
  fields: JoinedData['fields']
  /** What expressions read: made for the first, and kept for the others. */
  values: () => FilterValues
}

const maxFailureLength = 300

export function offerEvent(event: RaisedEvent, data: JoinedData): OfferedEvent {
  let values: FilterValues | undefined
  return {
    event,
    fields: data.fields,
    values: () => (values ??= toFilterValues(expressionValues(event, data))),
  }
}

/** Decides whether `webhook` gets the event. A test event goes to its webhook whatever that selects. */
export function selectWebhook(
  webhook: Webhook,
  offered: OfferedEvent,
  expressions: ExpressionCache,
): Decision {
  const selection = selectWithoutExpression(webhook, offered)
  if (selection !== 'selected' || offered.event.webhook_id !== null || webhook.filterExpression === null)
    return { selection, failure: null }
  const passes = expressions.evaluate(webhook.filterExpression, offered.values())
  if (passes instanceof PermanentError) {
    // Postgres has no NUL in text, and what an expression quotes can be anybody's.
    const failure = passes.message.replaceAll('\0', '').slice(0, maxFailureLength)
    return { selection: 'expression_failed', failure }
  }
  return { selection: passes ? 'selected' : 'filtered', failure: null }
}

function selectWithoutExpression(
  webhook: Webhook,
  { event, fields }: OfferedEvent,
): Exclude<Selection, 'expression_failed'> {
  if (event.webhook_id !== null) return event.webhook_id === webhook.id ? 'selected' : 'other_event'
  if (!webhook.enabled || !webhook.events.includes(selectableName(event))) return 'other_event'
  return passesFilters(webhook.filters, fields) ? 'selected' : 'filtered'
}

/** First-seen tools are told to those who want usage alerts (specification 6.1). */
function selectableName({ event }: RaisedEvent): string {
  return event === 'new_tool_detected' ? 'usage_alert' : event
}

/** A filter binds only events that carry its field: one on severity does not swallow usage alerts. */
function passesFilters(filters: Webhook['filters'], fields: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(filters).every(([field, allowed]) => {
    const value = fields[field] ?? null
    return value === null || allowed.length === 0 || (typeof value === 'string' && allowed.includes(value))
  })
}
