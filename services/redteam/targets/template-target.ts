import { PermanentError } from '#runtime/errors.ts'
import type { RedteamTarget } from '#schemas/redteam-run.ts'
import { messagesOf } from './chat-target.ts'
import type { JsonPoster } from './post-json.ts'
import type { Conversation, MakeMarks, Target, TargetAnswer } from './target.ts'

interface TemplateTargetOptions {
  target: Extract<RedteamTarget, { kind: 'http' }>
  key: string | undefined
  poster: JsonPoster
  marks: MakeMarks
}

/** Any HTTP endpoint with JSON in and out. Recorded as chat completions, which the scorers read. */
export function createTemplateTarget({ target, key, poster, marks }: TemplateTargetOptions): Target {
  const ownHeaders = fillHeaders(target.headers, key)
  return {
    takesSurroundings: false,
    async ask(conversation) {
      const requestBody = recordedRequest(conversation)
      const body = fillTemplate(target.body, conversation)
      const headers = {
        ...ownHeaders,
        ...marks(conversation, body),
      }
      const came = await poster.post({ url: target.url, headers, body })
      if (came.kind === 'busy' || came.kind === 'unreached') return came
      const { statusCode, latencyMs } = came
      const failed = (error: string): TargetAnswer => ({
        kind: 'failed',
        requestBody,
        responseBody: null,
        statusCode,
        latencyMs,
        error,
      })
      if (came.kind === 'broken') return failed(came.error)
      if (came.statusCode < 200 || came.statusCode > 299) return failed(`HTTP_${came.statusCode}`)
      const text = textAt(came.text, target.answer)
      if (text === undefined) return failed('NO_ANSWER_AT_POINTER')
      return {
        kind: 'answered',
        requestBody,
        responseBody: recordedAnswer(text),
        text,
        statusCode,
        latencyMs,
      }
    },
    close: () => poster.close(),
  }
}

/**
 * Puts the key where the template says, else as a bearer token. Throws PermanentError when the template's key
 * is missing.
 */
function fillHeaders(
  headers: Readonly<Record<string, string>>,
  key: string | undefined,
): Readonly<Record<string, string>> {
  const isPlaced = Object.values(headers).some((value) => value.includes('{{key}}'))
  if (!isPlaced) return key === undefined ? headers : { ...headers, authorization: `Bearer ${key}` }
  if (key === undefined)
    throw new PermanentError(
      'NO_TARGET',
      'target.headers: {{key}} stands for a key that is not there: name it with --key or REDTEAM_TARGET_KEYS',
    )
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replaceAll('{{key}}', () => key)]),
  )
}

/** JSON strings without their quotation marks: hostile prompts stay inside their string. */
function fillTemplate(template: string, { session, said }: Conversation): string {
  const inside = (text: string) => JSON.stringify(text).slice(1, -1)
  const values: Readonly<Record<string, string>> = { prompt: said.at(-1)?.text ?? '', session }
  return template.replace(/\{\{(prompt|session)\}\}/g, (_all, name: string) => inside(values[name] ?? ''))
}

/** The text at a JSON pointer (RFC 6901). */
function textAt(json: string, pointer: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return undefined // Reported as an answer without the place that was named.
  }
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return typeof value === 'string' ? value : undefined
}

export function recordedRequest(conversation: Conversation): object {
  return { messages: messagesOf({ ...conversation, system: null, context: null }) }
}

export function recordedAnswer(text: string): object {
  const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }]
  return { object: 'chat.completion', choices }
}
