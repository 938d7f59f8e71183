import { createHmac } from 'node:crypto'

/** Bytes that are kept of HMAC-SHA256. */
export const valueHashBytes = 16
/** Random bytes of a project's key. */
export const valueHashKeyBytes = 32

/** UTF-16 units of a value that are hashed; of a longer one its beginning. */
const maxUnits = 16_384
/** A number of a person has at least that many digits, and these are at least half of its characters. */
const minDigits = 6

/** The hash of a value under its project's key: equal only for equal values of one project. */
export function hashValue(key: Buffer, scorer: string, text: string): Buffer {
  const normalised = normaliseValue(scorer, text)
  return createHmac('sha256', key).update(normalised).digest().subarray(0, valueHashBytes)
}

/**
 * What counts as the same value: compatible characters, case and white space are folded. Personal numbers are
 * compared by their digits.
 */
export function normaliseValue(scorer: string, text: string): string {
  const folded = text.slice(0, maxUnits).toWellFormed().normalize('NFKC').toLowerCase()
  const value = folded.trim().replace(/\s+/g, ' ')
  if (scorer !== 'pii_detection') return value
  const digits = value.replace(/\D+/g, '')
  const others = value.replace(/[\d\p{P}\p{S}\s]+/gu, '')
  return digits.length >= minDigits && digits.length >= others.length ? digits : value
}
