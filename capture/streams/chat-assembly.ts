import { fieldAt, listOf, objectOf } from '../json.ts'
import { createCallPieces, type CallPieces } from './call-pieces.ts'
import { isFilterVerdict, worseVerdict } from './filter-verdicts.ts'
import { laterCounts } from './later-counts.ts'
import { entryAt, growing, growthIn, inOrder, mergeDelta, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

interface Choice {
  fields: Growing
  message: Growing
  calls: CallPieces
}

/** OpenAI chat completions: choices, tool calls by index, refusals, log probabilities, the usage chunk. */
export function createChatAssembly(): StreamAssembly {
  const top = growing()
  const choices = new Map<number, Choice>()

  const addChoice = (given: unknown) => {
    const index = fieldAt(given, 'index')
    const choice = entryAt(choices, index, () => ({
      fields: growing({ index: index ?? 0 }),
      message: growing({ role: 'assistant', content: null }),
      calls: createCallPieces(),
    }))
    const { delta, message, logprobs, ...rest } = objectOf(given) ?? {}
    const { tool_calls: calls, ...said } = objectOf(delta) ?? objectOf(message) ?? {}
    for (const piece of listOf(calls)) choice.calls.add(piece)
    mergeDelta(choice.message, said)
    if (logprobs !== undefined) mergeDelta(choice.fields, { logprobs })
    for (const [name, value] of Object.entries(rest)) setLater(choice.fields, name, value)
  }

  return {
    add(chunk) {
      for (const [name, value] of Object.entries(chunk)) {
        if (name === 'choices') listOf(value).forEach(addChoice)
        // Padding that some providers add against traffic analysis.
        else if (name !== 'obfuscation' && (!isBlank(value) || top[name] === undefined))
          setLater(top, name, value)
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
      choices: inOrder(choices).map(({ fields, message, calls }) => ({
        ...fields,
        message: calls.calls().length === 0 ? message : { ...message, tool_calls: calls.calls() },
      })),
    }),
    isDoubtful: () => inOrder(choices).some(({ calls }) => calls.isDoubtful()),
    ended: () =>
      choices.size > 0 && inOrder(choices).every(({ fields }) => typeof fields['finish_reason'] === 'string'),
  }
}

/** Azure's asynchronous filter sends its verdicts later, in chunks with empty fields. */
function isBlank(value: unknown): boolean {
  return value === null || value === '' || value === 0
}

/** Sets a later value; nothing replaces `content_filter` as the reason. */
function setLater(fields: Growing, name: string, value: unknown): void {
  const known = fields[name]
  if (name === 'usage' || name === 'x_groq') fields[name] = laterCounts(known, value)
  else if (isFilterVerdict(name)) fields[name] = worseVerdict(known, value)
  else if (
    known === undefined ||
    (value !== null && !(name === 'finish_reason' && known === 'content_filter'))
  )
    fields[name] = value
}
