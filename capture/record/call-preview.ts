import { answerTexts } from '../texts-of-call.ts'
import { fieldAt, listOf, objectOf } from '../json.ts'
import { messagesOf } from '../request-messages.ts'
import { allTexts } from '../all-texts.ts'
import { payloadOf } from '../payload-of.ts'
import { isToolCallRecord, type ToolCall } from '../tool-calls.ts'

/** Characters (code points) of each line. */
export const maxPreviewLength = 160

/** One line of prompt and answer; null: it has no text. */
export interface CallPreview {
  prompt: string | null
  answer: string | null
}

/**
 * The preview of parsed bodies as JSON, null without any text. The prompt is the newest text of the user or
 * of a tool; the answer is the model's first text, or else the tools that it calls. Accepts any JSON and
 * never throws.
 */
export function previewOf(
  requestBody: unknown,
  responseBody: unknown,
  toolCalls: readonly ToolCall[],
): Buffer | null {
  const preview: CallPreview = isToolCallRecord(requestBody)
    ? { prompt: lineOfCalls(toolCalls), answer: firstLine(answerTexts(requestBody, responseBody)) }
    : {
        prompt: promptLine(requestBody),
        answer: firstLine(answerTexts(requestBody, responseBody)) ?? lineOfCalls(toolCalls),
      }
  // As bytes: a cut of a text of megabytes would keep all of it in memory.
  return preview.prompt === null && preview.answer === null ? null : Buffer.from(JSON.stringify(preview))
}

function promptLine(body: unknown): string | null {
  for (const part of [withNewestTurns(body), body]) {
    const messages = messagesOf(part)
    for (const { role, text } of messages.toReversed()) {
      const line = role === 'user' || role === 'tool' ? lineOf(text) : null
      if (line !== null) return line
    }
    if (messages.length > 0 && part === body) return null
  }
  return firstLine(allTexts(payloadOf(body)))
}

const turnLists = ['messages', 'contents', 'input', 'inputs', 'chat_history'] as const
/** Of a long conversation only the last turns are read, unless none of them has words of the user. */
const newestTurns = 8

function withNewestTurns(body: unknown): unknown {
  const lists = turnLists.flatMap((name) => {
    const list = fieldAt(body, name)
    return Array.isArray(list) ? [[name, listOf(list).slice(-newestTurns)] as const] : []
  })
  return lists.length === 0 ? body : { ...objectOf(body), ...Object.fromEntries(lists) }
}

function lineOfCalls(toolCalls: readonly ToolCall[]): string | null {
  const [only] = toolCalls
  if (only === undefined) return null
  const calls = toolCalls.length === 1 ? `${only.name}(${start(only.arguments)})` : names(toolCalls)
  return lineOf(calls)
}

function names(toolCalls: readonly ToolCall[]): string {
  return toolCalls
    .slice(0, maxPreviewLength)
    .map(({ name }) => `${start(name)}()`)
    .join(', ')
}

function firstLine(texts: readonly string[]): string | null {
  for (const text of texts) {
    const line = lineOf(text)
    if (line !== null) return line
  }
  return null
}

/** Units read of each text at first; spaces and what is not seen leave fewer. */
const readUnits = 2 * maxPreviewLength + 80
const mostUnits = 8 * maxPreviewLength
const start = (text: string, units = readUnits) => text.trimStart().slice(0, units)

// Control and format characters: they move the cursor, reverse the direction of a line, or hide text.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu
/** Most texts have none of these, which takes a fifth of the time. */
const isPlain = (text: string) => /^[ -~]*$/.test(text) && !text.includes('  ')

/** A text as one line; null without a visible character. */
function lineOf(text: string): string | null {
  const line = clean(start(text))
  const whole =
    line.length < maxPreviewLength && text.length > readUnits ? clean(start(text, mostUnits)) : line
  if (whole === '') return null
  if (whole.length <= maxPreviewLength) return whole
  const characters = Array.from(whole.slice(0, 2 * maxPreviewLength + 2))
  if (characters.length <= maxPreviewLength) return whole
  return `${characters.slice(0, maxPreviewLength - 1).join('')}…`
}

function clean(text: string): string {
  return isPlain(text) ? text.trimEnd() : text.toWellFormed().replace(unseen, ' ').trim()
}
