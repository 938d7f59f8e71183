import { isRecord, textAt, type Place } from './body-place.ts'

/**
 * The speaker of a text. Thoughts are not yet an answer, and the reason for a missing answer is not the
 * model's words.
 */
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

/** The speaker of a message or item, by type, then by role, else `otherwise`. */
export function speakerOf(message: Place, otherwise: Speaker): Speaker {
  const byType = speakerOfPart(message, otherwise)
  if (byType !== otherwise) return byType
  if (textAt(message, 'type')?.endsWith('_call') === true) return 'assistant'
  return speakers[(textAt(message, 'role') ?? '').toLowerCase()] ?? otherwise
}

/** The speaker of a part of `holder`'s message: a user's may contain tool results, a model's its thoughts. */
export function speakerOfPart(part: Place, holder: Speaker): Speaker {
  const type = textAt(part, 'type') ?? ''
  if (/(?:^|_)tool_result$|_output$/.test(type) && !type.startsWith('model_')) return 'tool'
  if (isRecord(part.at('functionResponse', 'function_response', 'toolResult', 'codeExecutionResult').value))
    return 'tool'
  const isThought = /^(?:redacted_)?(?:thinking|reasoning|thought)$/.test(type)
  if (isThought || part.at('thought').value === true || isRecord(part.at('reasoningContent').value))
    return 'thinking'
  return holder
}
