import type { CallText } from '../call-text.ts'
import { findMatches } from '../find-matches.ts'

/** A picture or link of an answer whose address takes text of the conversation elsewhere. */
export interface CarriedData {
  kind: 'image_carries_data' | 'link_carries_data'
  start: number
  end: number
}

const maxAddresses = 50
const picture =
  /!\[[^\]\n]{0,200}\]\(\s?(https?:\/\/[^)\s]{8,2000})|<img\b[^<>]{0,300}?\bsrc\s?=\s?["']?(https?:\/\/[^"'\s<>]{8,2000})/gi
const link = /(?<!!)\[[^\]\n]{0,200}\]\(\s?(https?:\/\/[^)\s]{8,2000})/g
/** Services that draw what their address says: charts, formulas, diagrams, badges, maps, placeholders. */
const drawing =
  /^https?:\/\/(?:[\w-]+\.)*(?:quickchart\.io|image-charts\.com|chart\.(?:googleapis|apis\.google)\.com|latex\.codecogs\.com|mermaid\.ink|kroki\.io|plantuml\.com|shields\.io|badge\.fury\.io|pollinations\.ai|placehold\.co|placeholder\.com|dummyimage\.com|picsum\.photos|maps\.(?:googleapis|google)\.com|staticmap\.\w+|api\.mapbox\.com|ui-avatars\.com|gravatar\.com|qrserver\.com|wikimedia\.org|unsplash\.com)[/:?]/i
/** Longer values of other characters are identifiers and signatures. */
const minBase64 = 12
const base64 = /^[\w+/-]{12,4000}={0,2}$/
/** Readable text in base64: words and blanks, no JSON of a token. */
const readable = /^[\p{L}\p{N}\s.,:;@$€%'"()/_-]{8,}$/u
const minWords = 4

/**
 * Pictures are fetched without a click, so one whose address holds words of its own, plain or in base64,
 * carries them out. Of links only base64 tells: search links quote the question.
 */
export function findCarriedData({ text }: CallText): CarriedData[] {
  if (!text.includes('http')) return []
  const found = (kind: CarriedData['kind'], pattern: RegExp, carries: (address: string) => boolean) =>
    findMatches(text, pattern, maxAddresses)
      .filter((match) => carries(match[1] ?? match[2] ?? ''))
      .map(({ index, 0: whole }) => ({ kind, start: index, end: index + whole.length }))
  return [
    ...found(
      'image_carries_data',
      picture,
      (address) => !drawing.test(address) && valuesOf(address).some(isText),
    ),
    ...found('link_carries_data', link, (address) => valuesOf(address).some(isHiddenText)),
  ]
}

/** The values of an address's query. */
function valuesOf(address: string): string[] {
  const query = address.slice(address.indexOf('?') + 1)
  if (query === address || query.length < 8) return []
  return query.split(/[&#]/, maxAddresses).map((pair) => pair.slice(pair.indexOf('=') + 1))
}

function isText(value: string): boolean {
  return (
    isHiddenText(value) ||
    decoded(value)
      .split(/[\s+]+/)
      .filter((word) => /^\p{L}{2,}[.,:;!?]?$/u.test(word)).length >= minWords
  )
}

function isHiddenText(value: string): boolean {
  const plain = decoded(value)
  if (plain.length < minBase64 || !base64.test(plain) || plain.startsWith('eyJ')) return false
  const said = Buffer.from(plain, 'base64').toString('utf8')
  return readable.test(said) && /\p{L}{2,}\s+\p{L}{2,}|@/u.test(said)
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value // A stray per cent sign: the value is as it stands.
  }
}
