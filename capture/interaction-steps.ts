import { fieldAt, listOf, textOf } from './json.ts'

/** Of an answer of Google's interactions what the model did in it: what stands before its user's words is the conversation. */
export function newSteps(responseBody: unknown): readonly unknown[] {
  const steps = listOf(fieldAt(responseBody, 'steps'))
  return steps.slice(steps.findLastIndex((step) => fieldAt(step, 'type') === 'user_input') + 1)
}

/** Whether a step holds what a tool answered, of the program's or of Google's. */
export function isResultStep(step: unknown): boolean {
  return textOf(fieldAt(step, 'type'))?.endsWith('_result') === true && fieldAt(step, 'result') !== undefined
}
