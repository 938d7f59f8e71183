import { fieldAt, listOf, objectOf } from '../json.ts'
import { laterCounts } from './later-counts.ts'
import { entryAt, growing, inOrder, mergeDelta, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

/** OpenAI's legacy completions: texts by choice. */
export function createCompletionAssembly(): StreamAssembly {
  const top = growing()
  const choices = new Map<number, Growing>()

  const addChoice = (given: unknown) => {
    const index = fieldAt(given, 'index')
    const choice = entryAt(choices, index, () => growing({ index: index ?? 0, text: '' }))
    const { finish_reason: finishReason, ...rest } = objectOf(given) ?? {}
    mergeDelta(choice, rest)
    choice['finish_reason'] = finishReason ?? choice['finish_reason'] ?? null
  }

  return {
    add(chunk) {
      for (const [name, value] of Object.entries(chunk)) {
        if (name === 'choices') listOf(value).forEach(addChoice)
        else if (name === 'usage') top[name] = laterCounts(top[name], value)
        else if (value !== null || top[name] === undefined) top[name] = value
      }
    },
    body: () => ({ ...top, object: 'text_completion', choices: inOrder(choices) }),
    ended: () =>
      choices.size > 0 && inOrder(choices).every((choice) => typeof choice['finish_reason'] === 'string'),
  }
}
