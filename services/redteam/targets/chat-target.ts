import { z } from 'zod'
import type { RedteamTarget } from '#schemas/redteam-run.ts'
import type { JsonPoster } from './post-json.ts'
import type { Conversation, MakeMarks, Target, TargetAnswer } from './target.ts'

interface ChatTargetOptions {
  target: Extract<RedteamTarget, { kind: 'chat' }>
  key: string | undefined
  poster: JsonPoster
  /** Headers on every request that identify it in the target's logs. */
  marks: MakeMarks
}

/** A chat-completions endpoint: a model, the gateway, or an application with that protocol. */
export function createChatTarget({ target, key, poster, marks }: ChatTargetOptions): Target {
  const url = endpointOf(target.url)
  return {
    takesSurroundings: true,
    async ask(conversation) {
      const tools = toolsOf(conversation)
      const requestBody = {
        model: target.model,
        messages: messagesOf(conversation),
        ...(tools.length === 0 ? {} : { tools }),
      }
      const body = JSON.stringify(requestBody)
      const headers = {
        ...marks(conversation, body),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      }
      return readAnswer(requestBody, await poster.post({ url, headers, body }))
    },
    close: () => poster.close(),
  }
}

function endpointOf(given: string): string {
  const url = new URL(given)
  if (url.pathname === '/') url.pathname = '/v1/chat/completions'
  else if (/\/v1\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, '')}/chat/completions`
  return url.href
}

const searchTool = 'search(query)'

/** Search results follow the user's first turn, as the result of a tool call of the model. */
export function messagesOf({ system, context, said }: Conversation): object[] {
  const [first, ...rest] = said.map(({ role, text }) => ({ role, content: text }))
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 'search', arguments: '{"query":"relevant"}' },
  }
  const brought =
    context === null
      ? []
      : [
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: 'call_1', content: context },
        ]
  return [
    ...(system === null ? [] : [{ role: 'system', content: system }]),
    ...(first === undefined ? [] : [first]),
    ...brought,
    ...rest,
  ]
}

function toolsOf({ context, tools }: Conversation): object[] {
  return [...(context === null ? [] : [searchTool]), ...tools].map((tool) => {
    const [, name = '', parameter = ''] = /^(\w+)\((\w+)\)$/.exec(tool) ?? []
    const parameters = {
      type: 'object',
      properties: { [parameter]: { type: 'string' } },
      required: [parameter],
    }
    return { type: 'function', function: { name, parameters } }
  })
}

const answerSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        message: z.looseObject({ content: z.string().nullish(), tool_calls: z.array(z.unknown()).nullish() }),
      }),
    )
    .min(1),
})

function readAnswer(requestBody: object, came: Awaited<ReturnType<JsonPoster['post']>>): TargetAnswer {
  if (came.kind === 'busy' || came.kind === 'unreached') return came
  const { statusCode, latencyMs } = came
  if (came.kind === 'broken')
    return { kind: 'failed', requestBody, responseBody: null, statusCode, latencyMs, error: came.error }
  const responseBody = parseObject(came.text) ?? null
  const answer = answerSchema.safeParse(responseBody)
  if (came.statusCode !== 200 || responseBody === null || !answer.success) {
    const error = came.statusCode === 200 ? 'NO_CHAT_COMPLETION' : `HTTP_${came.statusCode}`
    return { kind: 'failed', requestBody, responseBody, statusCode, latencyMs, error }
  }
  const text = answer.data.choices[0]?.message.content ?? ''
  return { kind: 'answered', requestBody, responseBody, text, statusCode, latencyMs }
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined // Not JSON: reported as what it is, with its status.
  }
}
