import { PermanentError } from '#runtime/errors.ts'
import { compileFilterExpression, type FilterExpression } from '#runtime/filter-expression.ts'
import { envelopeFields, eventDataFields } from '#schemas/event-data.ts'
import { selectableEvents } from '#schemas/event-raised.ts'
import { newId } from '#schemas/ids.ts'
import { testEventData } from './test-event.ts'

/** Why an expression cannot be saved: it cannot be compiled, or its types fit no event. Undefined when it can. */
export function faultOfExpression(expression: string): string | undefined {
  try {
    const evaluate = compileFilterExpression(expression, envelopeFields)
    // What a tool is called with has whatever fields it has.
    if (/\barguments\b/.test(expression)) return undefined
    const faults = sampleEvents.map((event) => typeFaultOn(event, evaluate))
    return faults.includes(undefined) ? undefined : faults.at(-1)
  } catch (error) {
    if (error instanceof PermanentError) return error.message
    throw error
  }
}

/** What is wrong whatever the values are. An index out of bounds, for instance, is not. */
const typeFault = /^(found no matching overload|type mismatch|field not found|the result is neither)/

function typeFaultOn(event: Record<string, unknown>, evaluate: FilterExpression): string | undefined {
  try {
    evaluate(event)
    return undefined
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    if (!typeFault.test(error.message)) return undefined
    return `the filter expression is not valid: ${error.message}`
  }
}

/** One of each event, as the notifier shows them to expressions, and one that has every field there is. */
const sampleEvents = makeSampleEvents()

function makeSampleEvents(): Record<string, unknown>[] {
  const nowMs = 0
  const projectId = newId('project', nowMs)
  const id = newId('event', nowMs)
  const envelope = { id, created_at: new Date(nowMs).toISOString(), project_id: projectId }
  const unknown: Record<string, unknown> = Object.fromEntries(eventDataFields.map((field) => [field, null]))
  const each = selectableEvents.map((event) => ({
    ...envelope,
    event,
    data: { ...unknown, ...testEventData(event, { projectId, dashboardUrl: '', nowMs }) },
  }))
  const texts = Object.fromEntries(eventDataFields.map((field) => [field, 'text']))
  const known = each.flatMap(({ data }) => Object.entries(data)).filter(([, value]) => value !== null)
  const amounts = { threshold_usd: 10, current_usd: 12.5 }
  return [
    ...each,
    { ...envelope, event: 'any', data: { ...texts, ...Object.fromEntries(known), ...amounts } },
  ]
}
