import { PermanentError } from '#runtime/errors.ts'
import { createFilterAllowance } from '#runtime/filter-allowance.ts'
import { compileFilterExpression, type FilterExpression } from '#runtime/filter-expression.ts'
import { toFilterValues } from '#runtime/filter-values.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { createTakeTurn } from '#runtime/take-turns.ts'
import { envelopeFields } from '#schemas/event-data.ts'
import type { EventName, RaisedEvent } from '#schemas/event-raised.ts'
import { expressionValues, InvalidEventData, joinEvent } from '#schemas/join-event.ts'
import { faultOfExpression } from './check-expression.ts'

export interface TriedEvent {
  id: string
  event: EventName
  created_at: string
  scorer_name: string | null
  severity: string | null
  outcome: 'passes' | 'held_back' | 'failed'
  /** The error of the expression on this event. */
  message: string | null
}

export interface Trial {
  /** Why the expression could not be saved; null when it can. */
  error: string | null
  tried: TriedEvent[]
}

/**
 * Evaluates an expression on past events, with the values that the notifier gives it. Takes turns with other
 * requests of this process, such as `/internal/log`. Its cost limit is that of a project's expressions on one
 * event; later events are left out.
 */
export async function tryExpression(
  expression: string,
  events: readonly RaisedEvent[],
  sealer: Sealer,
): Promise<Trial> {
  const error = faultOfExpression(expression) ?? null
  if (error !== null) return { error, tried: [] }
  const compiled = compileFilterExpression(expression, envelopeFields)
  const takeTurn = createTakeTurn()
  const share = createFilterAllowance(1).next()
  const passes: FilterExpression = (values) => compiled(values, share)
  const tried: TriedEvent[] = []
  for (const event of events) {
    await takeTurn()
    const one = tryOn(event, passes, sealer)
    if (share.isSpent) break
    tried.push(one)
  }
  return { error, tried }
}

function tryOn(event: RaisedEvent, passes: FilterExpression, sealer: Sealer): TriedEvent {
  const tried = {
    id: event.id,
    event: event.event,
    created_at: new Date(event.created_at).toISOString(),
    scorer_name: null as string | null,
    severity: null as string | null,
  }
  try {
    const data = joinEvent(event, sealer)
    tried.scorer_name = textOrNull(data.fields['scorer_name'])
    tried.severity = textOrNull(data.fields['severity'])
    const outcome = passes(toFilterValues(expressionValues(event, data))) ? 'passes' : 'held_back'
    return { ...tried, outcome, message: null }
  } catch (error) {
    // The notifier skips an event that cannot be opened too.
    if (!(error instanceof PermanentError || error instanceof InvalidEventData)) throw error
    return { ...tried, outcome: 'failed', message: error.message }
  }
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)
