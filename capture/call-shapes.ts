import { fieldAt, listOf, objectOf } from './json.ts'
import { isToolCallRecord } from './tool-calls.ts'

/**
 * The known request and answer formats: OpenAI's three (which many others use), embeddings, Anthropic
 * messages, and formats of direct clients.
 */
export type CallShape =
  | 'chat_completions'
  | 'completions'
  | 'responses'
  | 'embeddings'
  | 'messages'
  | 'generate_content'
  | 'interactions'
  | 'conversation'
  | 'cohere_chat'
  | 'converse'
  | 'mcp_tool_call'

/**
 * Model calls by the end of the path, which mounted paths such as `/openai/deployments/x/chat/completions`
 * share.
 */
const shapeByPathEnd: readonly (readonly [string, CallShape])[] = [
  ['/chat/completions', 'chat_completions'],
  ['/completions', 'completions'],
  ['/responses', 'responses'],
  ['/responses/compact', 'responses'],
  ['/embeddings', 'embeddings'],
  ['/messages', 'messages'],
]

/** Adds a message to an assistant's thread; calls no model. */
const threadMessages = /\/threads\/[^/]+\/messages$/

/** The shape of a POST to `path` (its query is ignored); null if unknown. */
export function shapeOfPath(path: string): CallShape | null {
  const query = path.indexOf('?')
  const bare = query === -1 ? path : path.slice(0, query)
  const shape = shapeByPathEnd.find(([end]) => bare.endsWith(end))?.[1] ?? null
  return shape === 'messages' && threadMessages.test(bare) ? null : shape
}

type BodyTest = (request: unknown, response: unknown) => boolean

/** The first match decides. Answers come before requests, whose fields several shapes share. */
const bodyTests: readonly (readonly [CallShape, BodyTest])[] = [
  ['mcp_tool_call', isToolCallRecord],
  ['chat_completions', (_, response) => objectNamed(response, 'chat.completion')],
  ['completions', (_, response) => objectNamed(response, 'text_completion')],
  ['responses', (_, response) => isResponse(response)],
  ['interactions', (_, response) => isInteraction(response)],
  ['conversation', (_, response) => objectNamed(response, 'conversation.response')],
  ['messages', (_, response) => fieldAt(response, 'type') === 'message' && has(response, 'content')],
  ['generate_content', (request, response) => has(response, 'candidates') || has(request, 'contents')],
  ['converse', (_, response) => objectOf(fieldAt(response, 'output', 'message')) !== undefined],
  ['chat_completions', (_, response) => choiceHas(response, 'message') || choiceHas(response, 'delta')],
  ['completions', (_, response) => choiceHas(response, 'text')],
  ['embeddings', (_, response) => fieldAt(response, 'object') === 'list' && has(response, 'data')],
  ['embeddings', (_, response) => isVectors(fieldAt(response, 'embeddings'))],
  ['cohere_chat', (request, response) => isCohere(request, response)],
  ['messages', (request) => has(request, 'messages') && has(request, 'max_tokens') && has(request, 'system')],
  ['chat_completions', (request) => Array.isArray(fieldAt(request, 'messages'))],
  ['completions', (request) => has(request, 'prompt') && has(request, 'model')],
  ['responses', (request) => has(request, 'input') && has(request, 'instructions')],
]

/** The shape of the bodies; null if unknown. */
export function shapeOfBodies(requestBody: unknown, responseBody: unknown): CallShape | null {
  return bodyTests.find(([, fits]) => fits(requestBody, responseBody))?.[0] ?? null
}

function has(body: unknown, name: string): boolean {
  const value = fieldAt(body, name)
  return value !== undefined && value !== null
}

function objectNamed(response: unknown, name: string): boolean {
  const object = fieldAt(response, 'object')
  return object === name || object === `${name}.chunk`
}

/** Ollama's embeddings. */
function isVectors(embeddings: unknown): boolean {
  return typeof listOf(listOf(embeddings)[0])[0] === 'number'
}

/** `response.compaction` is a shortened conversation. */
function isResponse(response: unknown): boolean {
  const object = fieldAt(response, 'object')
  return object === 'response' || object === 'response.compaction' || object === 'realtime.response'
}

/** An old interaction has no steps, and an agent's has no `object`. */
function isInteraction(response: unknown): boolean {
  const hasSteps = Array.isArray(fieldAt(response, 'steps')) && has(response, 'status')
  return hasSteps || objectNamed(response, 'interaction')
}

function choiceHas(response: unknown, name: string): boolean {
  return listOf(fieldAt(response, 'choices')).some((choice) => has(choice, name))
}

function isCohere(request: unknown, response: unknown): boolean {
  if (Array.isArray(fieldAt(response, 'message', 'content')) && has(response, 'finish_reason')) return true
  return typeof fieldAt(request, 'message') === 'string' && !has(request, 'messages')
}
