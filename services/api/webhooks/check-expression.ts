import { PermanentError } from '#runtime/errors.ts'
import { anyValue, checkFilterTypes } from '#runtime/filter-types.ts'
import { envelopeFields, eventDataFields } from '#schemas/event-data.ts'
import { selectableEvents } from '#schemas/event-raised.ts'
import { newId } from '#schemas/ids.ts'
import { testEventData } from './test-event.ts'

/**
 * Why an expression cannot be saved: it does not compile, or its types fit no event. Undefined when it can.
 */
export function faultOfExpression(expression: string): string | undefined {
  try {
    checkFilterTypes(expression, sampleEvent)
    return undefined
  } catch (error) {
    if (error instanceof PermanentError) return error.message
    throw error
  }
}

/** An event with every field, in the form that expressions see. */
const sampleEvent = makeSampleEvent()

function makeSampleEvent() {
  const known = selectableEvents.flatMap((event) =>
    Object.entries(testEventData(event, { projectId: newId('project', 0), dashboardUrl: '', nowMs: 0 })),
  )
  const data = {
    ...Object.fromEntries(eventDataFields.map((field) => [field, 'text'])),
    ...Object.fromEntries(known.filter(([, value]) => value !== null)),
    threshold_usd: 10,
    current_usd: 12.5,
    compared_with: 0.5,
    // A rule's filter has the fields that it watches.
    filter: anyValue,
    // A tool's arguments have arbitrary fields.
    arguments: anyValue,
  }
  const envelope = Object.fromEntries(envelopeFields.map((field) => [field, 'text']))
  return { ...envelope, created_at: new Date(0).toISOString(), data }
}
