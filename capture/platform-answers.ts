import { wordsIn } from './content-texts.ts'
import { fieldAt, listOf } from './json.ts'

/** What platforms for agents and models answer in shapes of their own. */

/** LangGraph answers with the whole conversation: what the model and its tools said in this run stands behind the last words of a user. */
export function runMessages(responseBody: unknown): readonly unknown[] {
  const messages = listOf(fieldAt(responseBody, 'messages'))
  const asked = messages.findLastIndex((message) => fieldAt(message, 'type') === 'human')
  return messages.slice(asked + 1).filter((message) => isOf('ai', message) || isOf('tool', message))
}

function isOf(type: 'ai' | 'tool', message: unknown): boolean {
  return fieldAt(message, 'type') === type
}

/** The words of the model: of a run, of Dify's answer, of Replicate's prediction. */
export function saidByPlatform(body: unknown): unknown[] {
  return [
    ...runMessages(body)
      .filter((message) => isOf('ai', message))
      .map((message) => fieldAt(message, 'content')),
    ...(fieldAt(body, 'message_id') === undefined ? [] : [fieldAt(body, 'answer')]),
    ...(isPrediction(body) ? wordsIn(predictionOutput(body)) : []),
  ]
}

/** What the tools of a run answered. */
export function broughtByRun(body: unknown): unknown[] {
  return runMessages(body)
    .filter((message) => isOf('tool', message))
    .map((message) => fieldAt(message, 'content'))
}

/** Replicate's. Its input stands in it again. */
export function isPrediction(body: unknown): boolean {
  return fieldAt(body, 'urls', 'get') !== undefined
}

/** What a prediction of Replicate says: a model's words, which come in pieces, as one text; files as a list of addresses. */
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
