import { fieldAt, listOf, objectOf, textOf, type JsonObject } from '../json.ts'
import { givenValue } from './given-value.ts'
import { entryAt, growing, grownFrom, inOrder, listIn, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

interface Step {
  fields: Growing
  /** JSON text of a tool's arguments, which arrives in chunks. */
  given: string
}

/**
 * Google's interactions: steps (in older versions outputs) by index. The last event has the usage, and seldom
 * repeats the steps.
 */
export function createInteractionAssembly(): StreamAssembly {
  const top = growing()
  const steps = new Map<number, Step>()
  const outputs = new Map<number, Growing>()
  let ended = false

  const stepOf = (chunk: JsonObject) =>
    entryAt(steps, chunk['index'], () => ({ fields: growing(), given: '' }))

  return {
    add(chunk) {
      const type = textOf(chunk['event_type']) ?? ''
      Object.assign(top, objectOf(chunk['interaction']))
      if (type === 'step.start') Object.assign(stepOf(chunk).fields, objectOf(chunk['step']))
      else if (type === 'step.delta') grow(stepOf(chunk), objectOf(chunk['delta']) ?? {})
      else if (type === 'interaction.status_update') top['status'] = chunk['status']
      else if (type === 'content.start')
        Object.assign(entryAt(outputs, chunk['index'], growing), objectOf(chunk['content']))
      else if (type === 'content.delta')
        growOutput(entryAt(outputs, chunk['index'], growing), objectOf(chunk['delta']) ?? {})
      else if (type === 'interaction.completed' || type === 'interaction.complete') ended = true
      else if (type === 'error') top['error'] = chunk['error']
    },
    body() {
      if (listOf(top['steps']).length > 0 || listOf(top['outputs']).length > 0) return { ...top }
      if (outputs.size > 0) return { ...top, outputs: inOrder(outputs) }
      return { ...top, steps: inOrder(steps).map(stepBody) }
    },
    ended: () => ended,
  }
}

/** Media and annotations go into lists; other fields belong to the step. */
function grow(step: Step, delta: JsonObject): void {
  const { fields } = step
  const { type, ...rest } = delta
  if (type === 'arguments_delta') step.given += textOf(delta['arguments']) ?? ''
  else if (type === 'text') growText(fields, 'content', delta)
  else if (type === 'thought_summary') growText(fields, 'summary', objectOf(delta['content']) ?? {})
  else if (type === 'text_annotation_delta') annotate(fields, listOf(delta['annotations']))
  else if (fields['type'] === 'model_output') listIn(fields, 'content').push(delta)
  else Object.assign(fields, rest)
}

/** Adds text to an output; a call arrives complete. */
function growOutput(output: Growing, { text, ...rest }: JsonObject): void {
  if (rest['type'] === 'thought_summary') growText(output, 'summary', objectOf(rest['content']) ?? {})
  else Object.assign(output, rest['type'] === 'thought_signature' ? { signature: rest['signature'] } : rest)
  if (typeof text === 'string') output['text'] = (textOf(output['text']) ?? '') + text
}

function growText(fields: Growing, name: string, part: JsonObject): void {
  const parts = listIn(fields, name)
  const text = textOf(part['text'])
  if (text !== undefined && fieldAt(parts.at(-1), 'type') === 'text') {
    const last = lastOf(parts)
    last['text'] = (textOf(last['text']) ?? '') + text
  } else parts.push(growing(part))
}

function annotate(fields: Growing, annotations: readonly unknown[]): void {
  const parts = listIn(fields, 'content')
  if (objectOf(parts.at(-1)) === undefined) parts.push({ type: 'text', text: '' })
  const known = listIn(lastOf(parts), 'annotations')
  for (const annotation of annotations) known.push(annotation)
}

/** The last part, in a mutable form. */
function lastOf(parts: unknown[]): Growing {
  const last = grownFrom(parts.at(-1))
  parts[parts.length - 1] = last
  return last
}

function stepBody({ fields, given }: Step): JsonObject {
  return given === '' ? fields : { ...fields, arguments: givenValue(given) }
}
