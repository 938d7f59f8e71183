import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { SearchSignature } from '#schemas/search-signature.ts'
import { searchedTexts } from './searched-texts.ts'
import { signedWords, unitsOf } from './search-units.ts'

/** Of ten bits a word a lookup sets or reads seven: 0.8 % of other words seem to be there. */
const bitsPerWord = 10
export const probesPerWord = 7
const minBytes = 8
export const maxSignatureBytes = 4_096
const maxWords = (maxSignatureBytes * 8) / bitsPerWord

/** Words whose hashes are kept: most of a text are words of the text before. At most about 30 MB. */
const maxKnown = 50_000
const maxKnownLength = 32

/** A key of SEARCH_KEY. */
export interface SearchKey {
  id: string
  key: Buffer
}

/** Seven numbers below 2^32. Modulo a signature's bits they are the bits of the word. */
export type WordHash = Uint32Array

/** Hashes words of one project with one key. */
export type HashWord = (projectId: string, word: string) => WordHash

/** Makes signatures under the first key. */
export type SignCall = (projectId: string, bodies: readonly (Buffer | null)[]) => SearchSignature | null

/** Without keys: always null. */
export function createSignCall([key]: readonly SearchKey[]): SignCall {
  if (key === undefined) return () => null
  const hashWord = createHashWord(key)
  return (projectId, bodies) => {
    const words = distinctWords(bodies)
    const bits = words === undefined ? scanned : signatureOf(words, (word) => hashWord(projectId, word))
    return { key_id: key.id, bits }
  }
}

/** In place of bits: so many words that the call is opened at every search. */
const scanned = Buffer.alloc(0)

/** Undefined: more than a signature holds. */
function distinctWords(bodies: readonly (Buffer | null)[]): Set<string> | undefined {
  const words = new Set<string>()
  for (const body of bodies) {
    if (body === null) continue
    for (const text of searchedTexts(body.toString('utf8'))) {
      for (const word of signedWords(unitsOf(text))) {
        words.add(word)
        if (words.size > maxWords) return undefined
      }
    }
  }
  return words
}

function signatureOf(words: ReadonlySet<string>, hash: (word: string) => WordHash): Buffer {
  const bits = Buffer.alloc(Math.max(minBytes, Math.ceil((words.size * bitsPerWord) / 8)))
  for (const word of words) {
    for (const number of hash(word)) {
      const at = number % (bits.length * 8)
      bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7))
    }
  }
  return bits
}

/** Whether the call may hold the words; `false` is certain. Postgres does the same (`search-store.ts`). */
export function mayHold(bits: Buffer, hashes: readonly WordHash[]): boolean {
  if (bits.length === 0) return true
  return hashes.every((hash) =>
    hash.every((number) => {
      const at = number % (bits.length * 8)
      return ((bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0
    }),
  )
}

/**
 * HMAC-SHA256 of the word under the project's key, which is an HMAC of its id: the same word has other bits
 * in another project.
 */
export function createHashWord({ key }: SearchKey): HashWord {
  const root = createSecretKey(key)
  let recent = new Map<string, KnownWords>()
  let older = new Map<string, KnownWords>()
  let count = 0

  function ofProject(projectId: string): KnownWords {
    const found = recent.get(projectId)
    if (found !== undefined) return found
    const projectKey = older.get(projectId)?.projectKey ?? deriveKey(root, projectId)
    const made = { projectKey, hashes: new Map<string, WordHash>() }
    recent.set(projectId, made)
    count++
    return made
  }

  return (projectId, word) => {
    const { projectKey, hashes } = ofProject(projectId)
    const found = hashes.get(word)
    if (found !== undefined) return found
    const made = older.get(projectId)?.hashes.get(word) ?? hashOf(projectKey, word)
    if (word.length > maxKnownLength) return made
    hashes.set(word, made)
    if (++count > maxKnown) {
      older = recent
      recent = new Map()
      count = 0
    }
    return made
  }
}

interface KnownWords {
  projectKey: KeyObject
  hashes: Map<string, WordHash>
}

function deriveKey(root: KeyObject, projectId: string): KeyObject {
  return createSecretKey(createHmac('sha256', root).update(`sluice.search:${projectId}`).digest())
}

function hashOf(key: KeyObject, word: string): WordHash {
  const digest = createHmac('sha256', key).update(word).digest()
  return Uint32Array.from({ length: probesPerWord }, (_, index) => digest.readUInt32LE(index * 4))
}
