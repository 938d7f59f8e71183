import { PermanentError } from '#runtime/errors.ts'
import { compileFilterExpression, type FilterExpression } from '#runtime/filter-expression.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { envelopeFields, eventDataFields } from '#schemas/event-data.ts'
import type { EventName } from '#schemas/event-raised.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import type { RecentEvent } from '../stores/outbox-store.ts'
import { faultOfExpression } from './check-expression.ts'

export interface TriedEvent {
  id: string
  event: EventName
  created_at: string
  scorer_name: string | null
  severity: string | null
  outcome: 'passes' | 'held_back' | 'failed'
  /** What the expression failed with on this event. */
  message: string | null
}

export interface Trial {
  /** Why the expression could not be saved; null when it can. */
  error: string | null
  tried: TriedEvent[]
}

const unknownFields = Object.fromEntries(eventDataFields.map((field) => [field, null]))

/** What an expression would make of events that were raised: the same values as the notifier gives it. */
export function tryExpression(expression: string, events: readonly RecentEvent[], sealer: Sealer): Trial {
  const error = faultOfExpression(expression) ?? null
  if (error !== null) return { error, tried: [] }
  const passes = compileFilterExpression(expression, envelopeFields)
  return { error, tried: events.map((event) => tryOn(event, passes, sealer)) }
}

function tryOn(recent: RecentEvent, passes: FilterExpression, sealer: Sealer): TriedEvent {
  const { id, event, created_at, project_id } = recent
  const data = { ...unknownFields, ...dataOf(recent, sealer) }
  const shown = {
    id,
    event,
    created_at,
    scorer_name: textOrNull(data['scorer_name']),
    severity: textOrNull(data['severity']),
  }
  try {
    const outcome = passes({ id, event, created_at, project_id, data }) ? 'passes' : 'held_back'
    return { ...shown, outcome, message: null }
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    return { ...shown, outcome: 'failed', message: error.message }
  }
}

function dataOf({ id, project_id, data, content, content_id }: RecentEvent, sealer: Sealer): object {
  const own = JSON.parse(data.toString()) as object
  if (content === null) return own
  const opened = sealer.open(content, sealedIdentity(project_id, content_id ?? id, 'event_content'))
  return { ...own, ...(JSON.parse(opened.toString()) as object) }
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)
