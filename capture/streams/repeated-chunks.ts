import { objectOf, parseJson, type JsonObject } from '../json.ts'
import type { StreamAssembly } from './stream-assembly.ts'

/** Recognises chunks that differ from the previous one only in the text that grows. */
export interface RepeatedChunks {
  /** Adds such a chunk without parsing all of it; false for any other. */
  addIfRepeated(data: string): boolean
  /** Called for a chunk that was parsed and added. */
  learn(data: string, chunk: JsonObject, assembly: StreamAssembly): void
}

interface Template {
  before: string
  after: string
  append: (text: string) => void
}

const probe = 'sluice-probe'
/** Stop when chunks always differ. */
const maxProbes = 4
/** Characters that need unescaping, or are invalid, in a JSON string. */
const needsParsing = /[^ !#-[\]-\uffff]/
/** OpenAI's padding against traffic analysis, in every chunk. */
const padding = /,"obfuscation":"[A-Za-z0-9]*"\}$/

/**
 * Compares a chunk with the previous one instead of parsing it, as most differ in a few characters only: 25
 * µs instead of 88 for a stream of 40 chunks.
 */
export function createRepeatedChunks(): RepeatedChunks {
  let template: Template | undefined
  let probes = 0
  return {
    addIfRepeated(data) {
      const text = template === undefined ? undefined : textBetween(withoutPadding(data), template)
      if (text === undefined) return false
      probes = 0
      template?.append(text)
      return true
    },
    learn(data, chunk, assembly) {
      template = probes < maxProbes ? templateOf(withoutPadding(data), chunk, assembly) : undefined
      if (template !== undefined) probes++
    },
  }
}

/** Guesses the position of the text, and verifies it with another text. */
function templateOf(data: string, chunk: JsonObject, assembly: StreamAssembly): Template | undefined {
  const growth = assembly.growthOf?.(chunk)
  if (growth === undefined || growth.text === '' || growth.text === probe) return undefined
  const quoted = JSON.stringify(growth.text)
  const at = data.indexOf(quoted)
  if (at === -1) return undefined
  const before = data.slice(0, at + 1)
  const after = data.slice(at + quoted.length - 1)
  const probed = objectOf(parseJson(before + probe + after))
  if (probed === undefined || assembly.growthOf?.(probed)?.text !== probe) return undefined
  return { before, after, append: growth.append }
}

/** The text if `data` matches the template, with a JSON string in its place. */
function textBetween(data: string, { before, after }: Template): string | undefined {
  const end = data.length - after.length
  // `===` on slices is 0.9 µs per chunk faster than `startsWith` and `endsWith`.
  if (end < before.length || data.slice(0, before.length) !== before || data.slice(end) !== after)
    return undefined
  const written = data.slice(before.length, end)
  if (!needsParsing.test(written)) return written
  const text = parseJson(`"${written}"`)
  return typeof text === 'string' ? text : undefined
}

function withoutPadding(data: string): string {
  return data.endsWith('"}') ? data.replace(padding, '}') : data
}
