import { isRecord, textAt, type Place } from './body-place.ts'

/** Whose words they are. What a model thinks is no answer yet, and what says why there is none is not the model's. */
export type Speaker = 'system' | 'user' | 'assistant' | 'tool' | 'thinking' | 'error'

const speakers: Readonly<Record<string, Speaker>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  model: 'assistant',
  chatbot: 'assistant',
  ai: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** Who speaks in a message or an item, by its type, then by its role; `otherwise` where neither says. */
export function speakerOf(message: Place, otherwise: Speaker): Speaker {
  const byType = speakerOfPart(message, otherwise)
  if (byType !== otherwise) return byType
  if (textAt(message, 'type')?.endsWith('_call') === true) return 'assistant'
  return speakers[(textAt(message, 'role') ?? '').toLowerCase()] ?? otherwise
}

/** Who speaks in a part of what `holder` says: a user's message brings the results of tools, a model's its thoughts. */
export function speakerOfPart(part: Place, holder: Speaker): Speaker {
  const type = textAt(part, 'type') ?? ''
  if (/(?:^|_)tool_result$|_output$/.test(type) && !type.startsWith('model_')) return 'tool'
  if (isRecord(part.at('functionResponse', 'function_response', 'toolResult').value)) return 'tool'
  const isThought = /^(?:redacted_)?(?:thinking|reasoning|thought)$/.test(type)
  if (isThought || part.at('thought').value === true || isRecord(part.at('reasoningContent').value))
    return 'thinking'
  return holder
}
