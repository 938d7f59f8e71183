import { fieldAt, listOf, objectOf, textOf } from '../json.ts'
import { unpacked } from './nested-attributes.ts'

/** A message as chat completions have it. */
export interface ChatMessage {
  role: string
  content: unknown
  reasoning_content?: string
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

/**
 * Messages in the form of chat completions, whatever convention wrote them: parts of the GenAI conventions,
 * OpenInference's `message`, Vercel's and the providers' own. Results of tools become messages of their own.
 */
export function chatMessages(given: unknown, role: string): ChatMessage[] {
  const value = unpacked(given)
  if (typeof value === 'string') return value === '' ? [] : [{ role, content: value }]
  const listed = fieldAt(value, 'messages')
  if (Array.isArray(listed)) return chatMessages(listed, role)
  if (Array.isArray(value)) return value.flatMap((one) => messagesOf(one, role))
  return objectOf(value) === undefined ? [] : messagesOf(value, role)
}

function messagesOf(given: unknown, role: string): ChatMessage[] {
  if (typeof given === 'string') return [{ role, content: given }]
  const message = fieldAt(given, 'message') === undefined ? given : unpacked(fieldAt(given, 'message'))
  const content = unpacked(
    fieldAt(message, 'parts') ?? fieldAt(message, 'contents') ?? fieldAt(message, 'content') ?? null,
  )
  const own = roleOf(textOf(fieldAt(message, 'role')) ?? textOf(fieldAt(given, 'role')) ?? role)
  const parts = Array.isArray(content) ? content.map(partOf) : undefined
  const calls = [...listOf(unpacked(fieldAt(message, 'tool_calls'))).flatMap(callOf), ...callsIn(parts)]
  const results = resultsIn(parts)
  const kept = parts?.filter(({ kind }) => kind === 'said')
  const thought = parts?.filter(({ kind }) => kind === 'thought').map(({ text }) => text)
  const said: ChatMessage = {
    role: own,
    content: kept === undefined ? content : contentOf(kept),
    ...(thought !== undefined && thought.length > 0 && { reasoning_content: thought.join('\n') }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...toolCallIdOf(message),
  }
  const isEmpty = (said.content === null || said.content === '') && calls.length === 0
  return isEmpty && (results.length > 0 || objectOf(message) === undefined) ? results : [said, ...results]
}

/** Roles of other providers and of OpenInference. */
const roles: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant', model: 'assistant' }
const roleOf = (name: string) => roles[name.toLowerCase()] ?? name.toLowerCase()

function toolCallIdOf(message: unknown): { tool_call_id?: string } {
  const id = textOf(fieldAt(message, 'tool_call_id')) ?? textOf(fieldAt(message, 'id'))
  return id === undefined || roleOf(textOf(fieldAt(message, 'role')) ?? '') !== 'tool'
    ? {}
    : { tool_call_id: id }
}

type Call = NonNullable<ChatMessage['tool_calls']>[number]

interface Part {
  kind: 'said' | 'thought' | 'call' | 'result'
  text: string
  value: unknown
  call?: Call
}

/** Also of the Responses API. */
const textTypes = new Set(['', 'text', 'input_text', 'output_text'])

function partOf(given: unknown): Part {
  const part = fieldAt(given, 'message_content') ?? given
  const type = textOf(fieldAt(part, 'type')) ?? ''
  const text =
    typeof part === 'string'
      ? part
      : (textOf(fieldAt(part, 'content')) ?? textOf(fieldAt(part, 'text')) ?? '')
  if (['tool_call', 'tool-call', 'tool_use'].includes(type)) {
    const [call] = callOf(part)
    return { kind: 'call', text, value: part, ...(call !== undefined && { call }) }
  }
  if (['tool_call_response', 'tool-result', 'tool_result'].includes(type))
    return { kind: 'result', text, value: part }
  if (['reasoning', 'thinking'].includes(type))
    return { kind: 'thought', text: text || (textOf(fieldAt(part, 'thinking')) ?? ''), value: part }
  return {
    kind: 'said',
    text: textTypes.has(type) ? text : '',
    value: imageOf(part, type) ?? part,
  }
}

/** Pictures as chat completions have them. */
function imageOf(part: unknown, type: string): unknown {
  const inline = textOf(fieldAt(part, 'content')) ?? textOf(fieldAt(part, 'data'))
  const mime = textOf(fieldAt(part, 'mime_type')) ?? 'application/octet-stream'
  if (type === 'blob' && inline !== undefined)
    return { type: 'image_url', image_url: { url: `data:${mime};base64,${inline}` } }
  const uri = textOf(fieldAt(part, 'uri')) ?? textOf(fieldAt(part, 'image', 'image', 'url'))
  return uri === undefined ? undefined : { type: 'image_url', image_url: { url: uri } }
}

/** One text stays text. */
function contentOf(parts: readonly Part[]): unknown {
  if (parts.length === 0) return null
  const [only] = parts
  if (parts.length === 1 && only?.text !== undefined && only.text !== '') return only.text
  return parts.map(({ text, value }) => (text === '' ? value : { type: 'text', text }))
}

function callsIn(parts: readonly Part[] | undefined): Call[] {
  return (parts ?? []).flatMap(({ call }) => (call === undefined ? [] : [call]))
}

function resultsIn(parts: readonly Part[] | undefined): ChatMessage[] {
  return (parts ?? [])
    .filter(({ kind }) => kind === 'result')
    .map(({ text, value }) => {
      const id = textOf(fieldAt(value, 'id')) ?? textOf(fieldAt(value, 'toolCallId')) ?? ''
      const given =
        fieldAt(value, 'response') ??
        fieldAt(value, 'result') ??
        valueOf(fieldAt(value, 'output')) ??
        fieldAt(value, 'content')
      const content = text !== '' ? text : typeof given === 'string' ? given : resultText(given)
      return { role: 'tool', content, tool_call_id: id }
    })
}

/** Parts of text, joined; JSON for anything else. */
function resultText(given: unknown): string {
  const texts = listOf(given).map((part) => textOf(fieldAt(part, 'text')))
  const isText = texts.length > 0 && texts.every((text) => text !== undefined)
  return isText ? texts.join('\n') : JSON.stringify(given ?? null)
}

/** Vercel's outputs of tools have a type beside their value. */
function valueOf(output: unknown): unknown {
  return textOf(fieldAt(output, 'type')) === undefined ? output : (fieldAt(output, 'value') ?? output)
}

/** Calls of the GenAI conventions, of OpenInference (`tool_call`), of providers and of Vercel. */
export function callOf(given: unknown): Call[] {
  const call = fieldAt(given, 'tool_call') ?? given
  const called = fieldAt(call, 'function') ?? call
  const name = textOf(fieldAt(called, 'name')) ?? textOf(fieldAt(called, 'toolName'))
  if (name === undefined) return []
  const id = textOf(fieldAt(call, 'id')) ?? textOf(fieldAt(call, 'toolCallId')) ?? ''
  const words = fieldAt(called, 'arguments') ?? fieldAt(called, 'args') ?? fieldAt(called, 'input') ?? {}
  const text = typeof words === 'string' ? words : JSON.stringify(words)
  return [{ id, type: 'function', function: { name, arguments: text } }]
}
