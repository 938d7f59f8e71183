import { expect, test } from '@jest/globals'
import { evaluationEvents, isEvaluation } from './evaluations.ts'
import { readSpans, type Span } from './read-spans.ts'
import { kindOfSpan } from './span-kind.ts'
import { otlpRequest, type GivenSpan } from './testing/otlp-request.ts'

function read(given: GivenSpan): Span {
  const [one] = [...readSpans(otlpRequest([given]))]
  return (one as { span: Span }).span
}

const result = { 'gen_ai.evaluation.name': 'Relevance', 'gen_ai.evaluation.score.value': 4 }
const model = { 'gen_ai.request.model': 'm', 'gen_ai.provider.name': 'openai' }

test.each<[string, GivenSpan]>([
  ['named as the event', { name: 'gen_ai.evaluation.result', attributes: { ...model, ...result } }],
  ['with its attributes alone', { attributes: { ...model, ...result } }],
  ['with its operation', { attributes: { ...model, 'gen_ai.operation.name': 'evaluate' } }],
  ['of OpenInference', { attributes: { ...model, 'openinference.span.kind': 'EVALUATOR' } }],
  ['of Langfuse', { attributes: { ...model, 'langfuse.observation.type': 'evaluator' } }],
])('a result %s is no call', (_name, given) => {
  expect([isEvaluation(read(given)), kindOfSpan(read(given))]).toEqual([true, null])
})

test.each<[string, GivenSpan, 'model' | 'tool' | null]>([
  ['a call', { attributes: { ...model, ...result, 'gen_ai.operation.name': 'chat' } }, 'model'],
  ["the judge's call", { attributes: { ...model, 'openinference.span.kind': 'LLM' } }, 'model'],
  ['a tool', { attributes: { ...result, 'gen_ai.operation.name': 'execute_tool' } }, 'tool'],
  ['an agent', { attributes: { ...result, 'gen_ai.operation.name': 'invoke_agent' } }, null],
])('%s that was evaluated stays what it is', (_name, given, kind) => {
  expect([isEvaluation(read(given)), kindOfSpan(read(given))]).toEqual([false, kind])
})

test('results on events are counted', () => {
  const events = ['gen_ai.evaluation.result', 'gen_ai.choice', 'gen_ai.evaluation.result'].map((name) => ({
    name,
    attributes: result,
  }))
  expect(evaluationEvents(read({ attributes: model, events }))).toBe(2)
})
