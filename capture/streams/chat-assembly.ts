import { fieldAt, listOf, objectOf } from '../json.ts'
import { entryAt, growing, growthIn, inOrder, mergeDelta, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

interface Choice {
  fields: Growing
  message: Growing
}

/** OpenAI chat completions: several choices, tool calls by index, refusals, log probabilities, the usage chunk. */
export function createChatAssembly(): StreamAssembly {
  const top = growing()
  const choices = new Map<number, Choice>()

  const addChoice = (given: unknown) => {
    const index = fieldAt(given, 'index')
    const choice = entryAt(choices, index, () => ({
      fields: growing({ index: index ?? 0 }),
      message: growing({ role: 'assistant', content: null }),
    }))
    const { delta, message, logprobs, ...rest } = objectOf(given) ?? {}
    mergeDelta(choice.message, objectOf(delta) ?? objectOf(message) ?? {})
    if (logprobs !== undefined) mergeDelta(choice.fields, { logprobs })
    for (const [name, value] of Object.entries(rest))
      if (value !== null || choice.fields[name] === undefined) choice.fields[name] = value
  }

  return {
    add(chunk) {
      for (const [name, value] of Object.entries(chunk)) {
        if (name === 'choices') listOf(value).forEach(addChoice)
        // Padding that some providers add against traffic analysis.
        else if (name !== 'obfuscation' && (!isBlank(value) || top[name] === undefined)) top[name] = value
      }
    },
    growthOf(chunk) {
      const [given, ...others] = listOf(chunk['choices'])
      const delta = fieldAt(given, 'delta')
      const text = fieldAt(delta, 'content')
      const message = choices.get(fieldAt(given, 'index') as number)?.message
      const isAlone = others.length === 0 && Object.keys(delta ?? {}).length === 1
      const saysMore = (fieldAt(given, 'logprobs') ?? null) !== null
      if (!isAlone || saysMore || typeof text !== 'string' || message === undefined) return undefined
      return growthIn(message, 'content', text)
    },
    body: () => ({
      ...top,
      object: 'chat.completion',
      choices: inOrder(choices).map(({ fields, message }) => ({
        ...fields,
        message: withoutIndexes(message),
      })),
    }),
    ended: () =>
      choices.size > 0 && inOrder(choices).every(({ fields }) => typeof fields['finish_reason'] === 'string'),
  }
}

/** Azure's filter, where it does not hold the stream up, sends its verdicts later, in chunks with blanks for whose they are. */
function isBlank(value: unknown): boolean {
  return value === null || value === '' || value === 0
}

/** Tool calls carry their index only while they are streamed. */
function withoutIndexes(message: Growing): Growing {
  const calls = message['tool_calls']
  if (!Array.isArray(calls)) return message
  const whole = listOf(calls).map((call) => {
    const fields = Object.entries(objectOf(call) ?? {})
    return Object.fromEntries(fields.filter(([name]) => name !== 'index'))
  })
  return { ...message, tool_calls: whole }
}
