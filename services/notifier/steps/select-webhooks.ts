import { PermanentError } from '#runtime/errors.ts'
import { createFilterAllowance, type FilterShare } from '#runtime/filter-allowance.ts'
import { toFilterValues, type FilterValues } from '#runtime/filter-values.ts'
import type { TakeTurn } from '#runtime/take-turns.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { expressionValues, type JoinedData } from '#schemas/join-event.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { ExpressionCache } from './expression-cache.ts'

/** Why a webhook gets an event or not; labels of a metric. */
export type Selection = 'selected' | 'other_event' | 'filtered' | 'expression_failed'

export interface Decision {
  webhook: Webhook
  selection: Selection
  /** Why the expression failed, for the webhook's owner. */
  failure: string | null
}

/** An event that webhooks select. */
export interface OfferedEvent {
  event: RaisedEvent
  fields: JoinedData['fields']
  /** The input of expressions, made for the first of them. */
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

/**
 * Decides which of a project's webhooks get the event. A test event goes to its webhook in any case. A
 * project's expressions share a limited time, so that it does not delay others: the oldest come first, and
 * equal ones are evaluated once. `nowMs` measures their time.
 */
export async function selectWebhooks(
  webhooks: readonly Webhook[],
  offered: OfferedEvent,
  expressions: ExpressionCache,
  takeTurn: TakeTurn,
  nowMs: () => number,
): Promise<Decision[]> {
  const oldestFirst = selectEach(webhooks, offered).sort((one, other) =>
    one.webhook.id < other.webhook.id ? -1 : 1,
  )
  const sources = oldestFirst
    .filter(({ selection }) => selection === 'selected' && offered.event.webhook_id === null)
    .flatMap(({ webhook }) => webhook.filterExpression ?? [])
  const results = await evaluateEach(new Set(sources), offered, expressions, { takeTurn, nowMs })
  return oldestFirst.map(({ webhook, selection }) => ({
    webhook,
    selection,
    failure: null,
    ...(selection === 'selected' && results.get(webhook.filterExpression)),
  }))
}

/** The same for webhooks without expressions; undefined if one has an expression. */
export function selectPlainly(
  webhooks: readonly Webhook[],
  event: RaisedEvent,
  { fields }: JoinedData,
): Pick<Decision, 'webhook' | 'selection'>[] | undefined {
  if (webhooks.some(({ filterExpression }) => filterExpression !== null)) return undefined
  return selectEach(webhooks, { event, fields })
}

function selectEach(webhooks: readonly Webhook[], offered: Pick<OfferedEvent, 'event' | 'fields'>) {
  return webhooks.map((webhook) => ({ webhook, selection: selectWithoutExpression(webhook, offered) }))
}

type Evaluated = Pick<Decision, 'selection' | 'failure'>

async function evaluateEach(
  sources: ReadonlySet<string>,
  offered: OfferedEvent,
  expressions: ExpressionCache,
  { takeTurn, nowMs }: { takeTurn: TakeTurn; nowMs: () => number },
): Promise<Map<string | null, Evaluated>> {
  let tookMs = 0
  const allowance = createFilterAllowance(sources.size, () => tookMs)
  const results = new Map<string | null, Evaluated>()
  for (const source of sources) {
    await takeTurn()
    const begunAtMs = nowMs()
    results.set(source, evaluate(source, offered, expressions, allowance.next()))
    tookMs += nowMs() - begunAtMs
  }
  return results
}

function evaluate(
  source: string,
  offered: OfferedEvent,
  expressions: ExpressionCache,
  share: FilterShare,
): Evaluated {
  const passes = expressions.evaluate(source, offered.values(), share)
  if (passes instanceof PermanentError) {
    // Postgres stores no NUL, and the message may quote one.
    const failure = passes.message.replaceAll('\0', '').slice(0, maxFailureLength)
    return { selection: 'expression_failed', failure }
  }
  return { selection: passes ? 'selected' : 'filtered', failure: null }
}

function selectWithoutExpression(
  webhook: Webhook,
  { event, fields }: Pick<OfferedEvent, 'event' | 'fields'>,
): Exclude<Selection, 'expression_failed'> {
  if (event.webhook_id !== null) return event.webhook_id === webhook.id ? 'selected' : 'other_event'
  if (!webhook.enabled || !webhook.events.includes(selectableName(event))) return 'other_event'
  return passesFilters(webhook.filters, fields) ? 'selected' : 'filtered'
}

/** Webhooks with `usage_alert` get events of first-seen (specification 6.1) and changed tools. */
function selectableName({ event }: RaisedEvent): string {
  return event === 'new_tool_detected' || event === 'tool_definition_changed' ? 'usage_alert' : event
}

/** A filter applies only to events with its field: one on severity does not drop usage alerts. */
function passesFilters(filters: Webhook['filters'], fields: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(filters).every(([field, allowed]) => {
    const value = fields[field] ?? null
    return value === null || allowed.length === 0 || (typeof value === 'string' && allowed.includes(value))
  })
}
