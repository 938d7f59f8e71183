import type { Span } from './read-spans.ts'
import { firstOf } from './span-fields.ts'

const resultEvents = new Set(['gen_ai.evaluation.result', 'gen_ai.evaluation'])
const resultAttributes = [
  'gen_ai.evaluation.name',
  'gen_ai.evaluation.score.value',
  'gen_ai.evaluation.score.label',
]
const kindAttributes = ['openinference.span.kind', 'langfuse.observation.type']

/**
 * Whether a span is the result of an evaluation: it names the model that was judged, and is no call of it.
 * The judge's own call is a span within, and a call that carries its result stays one.
 */
export function isEvaluation({ name, attributes }: Span): boolean {
  if (resultEvents.has(name)) return true
  const operation = attributes.get('gen_ai.operation.name')
  if (typeof operation === 'string') return /^evaluat/.test(operation)
  const kind = firstOf(attributes, kindAttributes)
  if (typeof kind === 'string') return kind.toLowerCase() === 'evaluator'
  return firstOf(attributes, resultAttributes) !== undefined
}

/** Results of evaluations on the events of a span, which may be a call. */
export function evaluationEvents({ events }: Span): number {
  return events.filter(({ name }) => resultEvents.has(name)).length
}
