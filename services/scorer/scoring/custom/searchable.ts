import { parseJson } from '#capture/json.ts'
import { toolCallsOf } from '#capture/tool-calls.ts'
import { isToolCall, piecesOf, type Body, type BodyPart, type Call } from '../call-text.ts'
import { stringsOf } from '../strings-of.ts'
import type { FoldedText } from '../fold-characters.ts'
import { foldCase } from './fold-case.ts'

export const matchTargets = ['request_body', 'response_body', 'both', 'tool_arguments'] as const
export type MatchTarget = (typeof matchTargets)[number]

/** A text that custom scorers search. It is folded once, and only when some scorer needs that. */
export interface Searchable {
  part: BodyPart
  /** Null: the body's JSON text. */
  pointer: string | null
  text: string
  /** Where in the whole text this piece begins. */
  offset: number
  folded(): FoldedText
}

/** The texts of a call by what a scorer matches on. Made once a call, however many scorers there are. */
export function searchablesOf(call: Call): (target: MatchTarget) => Searchable[] {
  const request = keepFirst(() => ofBody('request_body', call.request))
  const response = keepFirst(() => ofBody('response_body', call.response))
  const toolArguments = keepFirst(() => ofToolArguments(call))
  return (target) => {
    if (target === 'request_body') return request()
    if (target === 'response_body') return response()
    return target === 'both' ? [...request(), ...response()] : toolArguments()
  }
}

/** The decoded strings first, because they say better where a hit is; then the JSON text, for what spans more than one. */
function ofBody(part: BodyPart, body: Body | null): Searchable[] {
  if (body === null) return []
  const strings = Array.from(stringsOf(body.value), ({ pointer, text }) => searchable(part, pointer, text))
  return [...strings, searchable(part, null, body.json)].flat()
}

function ofToolArguments(call: Call): Searchable[] {
  const { request, response } = call
  if (request !== null && isToolCall(request.value)) {
    const given = (request.value as Readonly<Record<string, unknown>>)['arguments']
    const strings = Array.from(stringsOf(given, '/arguments')).flatMap(({ pointer, text }) =>
      searchable('request_body', pointer, text),
    )
    return given === undefined
      ? []
      : [...strings, ...searchable('request_body', '/arguments', JSON.stringify(given))]
  }
  return toolCallsOf(request?.value, response?.value).flatMap(({ arguments: json }) => {
    const pointer =
      call.texts.find(({ part, text }) => part === 'response_body' && text === json)?.pointer ?? null
    return [...searchable('response_body', pointer, json), ...insideJson(pointer, json)]
  })
}

/** Models write arguments as JSON in a string: what it says is one decoding further in, at the same pointer. */
function insideJson(pointer: string | null, json: string): Searchable[] {
  // What a model wrote need not be JSON; the text itself is searched anyway.
  return Array.from(stringsOf(parseJson(json))).flatMap(({ text }) =>
    searchable('response_body', pointer, text),
  )
}

function searchable(part: BodyPart, pointer: string | null, text: string): Searchable[] {
  return Array.from(piecesOf({ text, offset: 0 }), (piece) => ({
    part,
    pointer,
    ...piece,
    folded: keepFirst(() => foldCase(piece.text)),
  }))
}

function keepFirst<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}
