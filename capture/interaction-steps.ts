import { fieldAt, listOf } from './json.ts'

/** Steps of the model in a Google interaction: those after the last user input. */
export function newSteps(responseBody: unknown): readonly unknown[] {
  const steps = listOf(fieldAt(responseBody, 'steps'))
  return steps.slice(steps.findLastIndex((step) => fieldAt(step, 'type') === 'user_input') + 1)
}
