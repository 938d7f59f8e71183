import { fieldAt, listOf } from './json.ts'

/** Of an answer of Google's interactions what the model did in it: what stands before its user's words is the conversation. */
export function newSteps(responseBody: unknown): readonly unknown[] {
  const steps = listOf(fieldAt(responseBody, 'steps'))
  return steps.slice(steps.findLastIndex((step) => fieldAt(step, 'type') === 'user_input') + 1)
}
