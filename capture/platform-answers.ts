import { wordsIn } from './content-texts.ts'
import { fieldAt, listOf } from './json.ts'

/** Answer formats of agent and model platforms. */

/** LangGraph returns the whole conversation: the messages of this run follow the last user message. */
export function runMessages(responseBody: unknown): readonly unknown[] {
  const messages = listOf(fieldAt(responseBody, 'messages'))
  const asked = messages.findLastIndex((message) => fieldAt(message, 'type') === 'human')
  return messages.slice(asked + 1).filter((message) => isOf('ai', message) || isOf('tool', message))
}

function isOf(type: 'ai' | 'tool', message: unknown): boolean {
  return fieldAt(message, 'type') === type
}

/** The model's text in a LangGraph run, a Dify answer or a Replicate prediction. */
export function platformTexts(body: unknown): unknown[] {
  return [
    ...runMessages(body)
      .filter((message) => isOf('ai', message))
      .map((message) => fieldAt(message, 'content')),
    ...(fieldAt(body, 'message_id') === undefined ? [] : [fieldAt(body, 'answer')]),
    ...(isPrediction(body) ? wordsIn(predictionOutput(body)) : []),
  ]
}

/** Tool results of a LangGraph run. */
export function runToolResults(body: unknown): unknown[] {
  return runMessages(body)
    .filter((message) => isOf('tool', message))
    .map((message) => fieldAt(message, 'content'))
}

/** A Replicate prediction, which repeats its input. */
export function isPrediction(body: unknown): boolean {
  return fieldAt(body, 'urls', 'get') !== undefined
}

/** The output of a Replicate prediction: chunks of text joined; files as a list of URLs. */
export function predictionOutput(prediction: unknown): unknown {
  const output = fieldAt(prediction, 'output')
  const pieces = listOf(output)
  const areWords =
    pieces.length > 0 && pieces.every((piece) => typeof piece === 'string' && !isAddress(piece))
  return areWords ? pieces.join('') : output
}

function isAddress(piece: string): boolean {
  return /^https?:\/\/\S+$/.test(piece)
}
