import { createHmac, createSecretKey } from 'node:crypto'
import { normaliseValue } from '#schemas/value-hash.ts'
import { identifierKinds, type Identifier, type IdentifierKind } from '../pii/identifier.ts'

/** What stands in place of a value: `[EMAIL_ADDRESS:cafe…]`. */
export type PlaceholderOf = (kind: IdentifierKind, value: string) => string

/** 52 bits: of a million values of one project no two are alike, but for one chance in 9,000. */
const tagLetters = 20
/** Without digits no detector takes a placeholder for a number, and masking again leaves it as it is. */
const alphabet = 'abcdef'

/**
 * The same placeholder for the same value in all calls of a project, and another one in other projects.
 * Values are compared as findings are: without case and white space, numbers by their digits.
 */
export function createPlaceholders(key: Buffer): PlaceholderOf {
  const hmacKey = createSecretKey(key)
  return (kind, value) => {
    const digest = createHmac('sha256', hmacKey)
      .update(`${kind}:${normaliseValue('pii_detection', value)}`)
      .digest()
    let tag = ''
    for (const byte of digest.subarray(0, tagLetters)) tag += alphabet.charAt(byte % alphabet.length)
    return `[${kind.toUpperCase()}:${tag}]`
  }
}

const names = Object.keys(identifierKinds).map((kind) => kind.toUpperCase())
const placeholder = new RegExp(String.raw`\[(${names.join('|')}):[${alphabet}]{${tagLetters}}\]`, 'g')

/** Placeholders of `kinds` in a text. Anybody can write one: only a record says that it masked something. */
export function findPlaceholders(text: string, kinds?: ReadonlySet<string>): Identifier[] {
  if (!text.includes(':')) return []
  return Array.from(text.matchAll(placeholder), ({ 0: whole, 1: name = '', index }) => ({
    kind: name.toLowerCase() as IdentifierKind,
    start: index,
    end: index + whole.length,
  })).filter(({ kind }) => kinds?.has(kind) ?? true)
}

export function isPlaceholder(text: string): boolean {
  const [found] = findPlaceholders(text)
  return found?.start === 0 && found.end === text.length
}
