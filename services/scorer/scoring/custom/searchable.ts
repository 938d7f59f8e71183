import type { RE2JS } from 're2js'
import { objectOf, parseJson } from '#capture/json.ts'
import { keepFirst } from '#capture/keep-first.ts'
import { isPrediction, predictionOutput } from '#capture/platform-answers.ts'
import { isToolCallRecord, toolCallsOf } from '#capture/tool-calls.ts'
import { piecesOf, type Body, type BodyPart, type Call } from '#detectors/call-text.ts'
import { memberOfBody, stringsOf, type PlacedString } from '#detectors/strings-of.ts'
import { commandListsOf } from '#detectors/command-lists.ts'
import type { FoldedText } from '#detectors/fold-characters.ts'
import type { MatchTarget } from '#schemas/project-scorer.ts'
import { foldCase } from './fold-case.ts'

/** A text for custom scorers to search. Folded once, and only if a scorer needs that. */
export interface Searchable {
  part: BodyPart
  /** Null: the body's JSON text. */
  pointer: string | null
  text: string
  /** The text that this is a piece of, and the piece's offset in it. */
  whole: WholeText
  offset: number
  folded(): FoldedText
  /** For a command line given as a list: the length of its first word, at which matches are placed. */
  firstWordUnits?: number
}

/** Shared by the pieces of a text. Kept small: a call may have half a million. */
export interface WholeText {
  text: string
  /** Cached results of the patterns tried. */
  matches?: Map<RE2JS, boolean>
}

/** A call's texts by match target. Computed once per call, for all scorers. */
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

/** Decoded strings first, as they locate a match better; then the JSON text, for matches across strings. */
function ofBody(part: BodyPart, body: Body | null): Searchable[] {
  if (body === null) return []
  const strings = Array.from(stringsOf(joinPieces(body.value)), ({ pointer, text }) =>
    searchable(part, pointer, text),
  )
  return [...strings, searchable(part, null, body.json)].flat()
}

/** A match may span two pieces of Replicate's output list. */
function joinPieces(body: unknown): unknown {
  return isPrediction(body) ? { ...objectOf(body), output: predictionOutput(body) } : body
}

function ofToolArguments(call: Call): Searchable[] {
  const { request, response } = call
  if (request !== null && isToolCallRecord(request.value)) {
    const given = (request.value as Readonly<Record<string, unknown>>)['arguments']
    if (given === undefined) return []
    const strings = ofStrings('request_body', Array.from(stringsOf(given, memberOfBody('arguments'))))
    return [...strings, ...searchable('request_body', '/arguments', JSON.stringify(given))]
  }
  const said = call.texts.filter(({ part }) => part === 'response_body')
  const pointerOf = new Map(said.toReversed().map(({ text, pointer }) => [text, pointer]))
  return toolCallsOf(request?.value, response?.value).flatMap(({ arguments: json }) => {
    const pointer = pointerOf.get(json) ?? null
    return [...searchable('response_body', pointer, json), ...insideJson(pointer, json)]
  })
}

/** Models write arguments as JSON inside a string: decoded once more, at the same pointer. */
function insideJson(pointer: string | null, json: string): Searchable[] {
  // If it is not JSON, the text itself is searched anyway.
  const strings = ofStrings('response_body', Array.from(stringsOf(parseJson(json))))
  return strings.map((string) => ({ ...string, pointer }))
}

/** Programs may be started by a list: `["rm", "-rf", "/data"]` is searched as one command line. */
function ofStrings(part: BodyPart, strings: readonly PlacedString[]): Searchable[] {
  const lists = commandListsOf(strings)
  const words = new Set(lists.flatMap((list) => (isCommand.test(list.name) ? list.words : [])))
  const lines = lists.flatMap(({ words: [first, ...rest] }) =>
    searchable(part, first.pointer, [first.text, ...rest.map(({ text }) => quoteWord(text))].join(' ')).map(
      (line) => ({ ...line, firstWordUnits: first.text.length }),
    ),
  )
  const alone = strings.filter((string) => !words.has(string))
  return [...alone.flatMap(({ pointer, text }) => searchable(part, pointer, text)), ...lines]
}

/** Lists with these names hold a program and its arguments, nothing else. */
const isCommand = /^(?:argv|args|arguments|cmd|command|command_?line|cmdline|entrypoint|exec)$/i

/** As a shell would quote it. */
function quoteWord(word: string): string {
  return /\s/.test(word) ? `"${word}"` : word
}

function searchable(part: BodyPart, pointer: string | null, text: string): Searchable[] {
  const whole: WholeText = { text }
  return Array.from(piecesOf({ text, offset: 0 }), (piece) => ({
    part,
    pointer,
    whole,
    ...piece,
    folded: keepFirst(() => foldCase(piece.text)),
  }))
}
