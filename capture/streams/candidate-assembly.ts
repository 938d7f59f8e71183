import { fieldAt, listOf, objectOf, type JsonObject } from '../json.ts'
import { laterCounts } from './later-counts.ts'
import { entryAt, growing, grownFrom, inOrder, type Growing } from './merge-delta.ts'
import { partialArgs, type PartialArgs } from './partial-args.ts'
import type { StreamAssembly } from './stream-assembly.ts'

interface Candidate {
  fields: Growing
  role: unknown
  parts: JsonObject[]
  /** The call whose arguments are incomplete. */
  open: OpenCall | undefined
}

interface OpenCall {
  /** Index of its part. */
  at: number
  name: unknown
  partial: PartialArgs
}

/**
 * Google's generateContent: every chunk is an answer. Parts are appended; of other fields the last value
 * counts.
 */
export function createCandidateAssembly(): StreamAssembly {
  const top = growing()
  const candidates = new Map<number, Candidate>()

  const addCandidate = (given: unknown) => {
    const { content, ...rest } = objectOf(given) ?? {}
    const candidate = entryAt(candidates, rest['index'], () => ({
      fields: growing(),
      role: 'model',
      parts: [],
      open: undefined,
    }))
    Object.assign(candidate.fields, rest)
    candidate.role = fieldAt(content, 'role') ?? candidate.role
    for (const part of listOf(fieldAt(content, 'parts'))) addPart(candidate, objectOf(part) ?? {})
  }

  return {
    add(chunk) {
      for (const [name, value] of Object.entries(chunk)) {
        if (name === 'candidates') listOf(value).forEach(addCandidate)
        else top[name] = name === 'usageMetadata' ? laterCounts(top[name], value) : value
      }
    },
    body: () => ({
      ...top,
      candidates: inOrder(candidates).map(({ fields, role, parts }) => ({
        content: { role, parts },
        ...fields,
      })),
    }),
    ended: () =>
      candidates.size > 0 &&
      inOrder(candidates).every(({ fields }) => typeof fields['finishReason'] === 'string'),
  }
}

/**
 * Text continues a part of the same kind (thoughts are marked), and a call continues as long as it says so.
 * Anything else starts a new part.
 */
function addPart(candidate: Candidate, part: JsonObject): void {
  const { parts } = candidate
  const call = objectOf(part['functionCall'])
  if (call !== undefined && (isStreamed(call) || goesOn(candidate.open, call))) {
    addToCall(candidate, part, call)
    return
  }
  const last = parts.at(-1)
  const [before, text] = [last?.['text'], part['text']]
  const continues =
    typeof before === 'string' && typeof text === 'string' && last?.['thought'] === part['thought']
  if (continues) parts[parts.length - 1] = Object.assign(grownFrom(last), part, { text: before + text })
  else parts.push(part)
}

/** Vertex with `streamFunctionCallArguments`. */
function isStreamed(call: JsonObject): boolean {
  return call['willContinue'] === true || Array.isArray(call['partialArgs'])
}

/** A new call starts with its name; the last chunk of a call is empty. */
function goesOn(open: OpenCall | undefined, { name }: JsonObject): boolean {
  return open !== undefined && (name === undefined || name === open.name)
}

function addToCall(candidate: Candidate, part: JsonObject, call: JsonObject): void {
  const { partialArgs: pieces, willContinue, args, ...fields } = call
  const open = goesOn(candidate.open, call)
    ? candidate.open
    : { at: candidate.parts.length, name: fields['name'], partial: partialArgs(undefined) }
  if (open === undefined) return
  Object.assign(open.partial.args, objectOf(args))
  listOf(pieces).forEach((piece) => {
    open.partial.add(piece)
  })
  const before = candidate.parts[open.at]
  const functionCall = Object.assign(grownFrom(before?.['functionCall']), fields, {
    args: open.partial.args,
  })
  candidate.parts[open.at] = Object.assign(grownFrom(before), part, { functionCall })
  candidate.open = willContinue === true ? open : undefined
}
