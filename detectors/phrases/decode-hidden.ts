import type { CallText } from '../call-text.ts'
import { findMatches } from '../find-matches.ts'
import { charactersOf, hasRun } from '../has-run.ts'
import { onceForText } from '../once-for-text.ts'
import { backwards, rot13 } from './rewrite-units.ts'

/** A passage that encodes another text. Offsets are the passage's. */
export interface HiddenText {
  start: number
  end: number
  encoding:
    | 'base64'
    | 'hex'
    | 'tags'
    | 'selectors'
    | 'bits'
    | 'morse'
    | 'spelled'
    | 'leet'
    | 'reversed'
    | 'rot13'
    | 'codes'
    | 'escapes'
    | 'markup'
  text: string
}

const maxPassages = 50
const base64Pattern = /(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{24,20000}={0,2}(?![A-Za-z0-9+/=])/g
const [base64Characters, minBase64] = [charactersOf(/[A-Za-z0-9+/]/), 24]
const hexPattern = /(?<![0-9A-Fa-f])(?:(?:\\x|0x)?[0-9A-Fa-f]{2}[ ,]?){16,10000}(?![0-9A-Fa-f])/g
const [hexCharacters, minHex] = [charactersOf(/[0-9A-Fa-f\\x ,]/), 32]
/** The tag block spells ASCII that only models see. Region flags use a few of its letters. */
const tagsPattern = /[\u{e0020}-\u{e007e}]{8,20000}/gu
/** 256 variation selectors can encode bytes after a character, which normally has one. */
const selectorsPattern = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{12,20000}/gu
/** Two invisible characters encode bits, and a third separates letters. */
const bitsPattern = /[\u200b-\u200d\u2060-\u2064\ufeff]{96,160000}/g
const beyondAscii = /[^\0-\x7f]/
/** A cheap check for either, which few texts pass. */
const unseen = /[\u200b-\u200d\u2060-\u2064\ufeff]{12}|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{12}/u
const morsePattern = /(?<![.\-\w])(?:[.-]{1,4}(?: {1,3}| ?\/ ?)){15,4000}[.-]{1,4}(?![.\-\w])/g
/** A cheap check for either. */
const morseLetters = /[.-]{1,4} [.-]{1,4} [.-]{1,4} [.-]{1,4}/
/** Two or three separators between words. */
const spelledPattern = /(?<![\p{L}\p{N}])\p{L}(?:[ .\-_*|]{1,3}\p{L}){11,2000}(?![\p{L}\p{N}])/gu
const spelledWord = /(?<![\p{L}\p{N}])\p{L}(?:[_.\-*|]\p{L}){4,30}(?![\p{L}\p{N}])/gu
/** A cheap check for either, which few texts pass. */
const spelled = /[ .\-_*|]\p{L}[ .\-_*|]{1,3}\p{L}[ .\-_*|]/u
const joined = /[_.\-*|]\p{L}[_.\-*|]\p{L}[_.\-*|]/u
/** Letters written as numbers, for which there is no honest need. */
const escapedLetter =
  /%[46][1-9a-f]|%[57][0-9a]|&#(?:6[5-9]|[78]\d|9[07-9]|1[01]\d|12[0-2]);|&#x[4-7][0-9a-f];|\\x[4-7][0-9a-f]/gi
const minEscapes = 6
/** URLs have a few. */
const escapedSpace = /\w%20(?=\w)/g
const minEscapedSpaces = 5
const escape = /%([2-7][0-9a-f])|&#x([2-7][0-9a-f]);|\\x([2-7][0-9a-f])|&#(\d{2,3});/gi
const leetWord =
  /(?<![\p{L}\p{N}])(?=[a-z]{0,15}[013457@$])(?=[013457@$]{0,15}[a-z])[a-z013457@$]{3,24}(?![\p{L}\p{N}])/giu

/**
 * Present in every leetspeak word. With flags `iu` also ſ and the Kelvin sign are letters; without, it is
 * faster.
 */
const leetPair = /[A-Za-z\u017f\u212a][013457@$]|[013457@$][A-Za-z\u017f\u212a]/

/** Readable texts encoded in `text`. Passages that decode to noise are not hidden text. */
export function decodeHidden(text: string): HiddenText[] {
  const isAscii = !beyondAscii.test(text)
  return [
    ...(hasRun(text, base64Characters, minBase64) ? passages(text, base64Pattern, 'base64', fromBase64) : []),
    ...(hasRun(text, hexCharacters, minHex) ? passages(text, hexPattern, 'hex', fromHex) : []),
    ...(isAscii ? [] : passages(text, tagsPattern, 'tags', fromTags)),
    ...(!isAscii && unseen.test(text)
      ? [
          ...passages(text, selectorsPattern, 'selectors', fromSelectors),
          ...passages(text, bitsPattern, 'bits', fromBits),
        ]
      : []),
    ...(morseLetters.test(text) ? passages(text, morsePattern, 'morse', fromMorse) : []),
    ...(spelled.test(text) ? passages(text, spelledPattern, 'spelled', fromSpelled) : []),
    ...(leetPair.test(text) ? wholeText(text, 'leet', unleet) : []),
    ...(escaped.test(text)
      ? [{ start: 0, end: text.length, encoding: 'escapes' as const, text: unescaped(text) }]
      : []),
    ...(joined.test(text) && (text.match(spelledWord)?.length ?? 0) > 1
      ? wholeText(text, 'spelled', joinSpelled)
      : []),
    ...(timesIn(text, escapedLetter) < minEscapes && timesIn(text, escapedSpace) < minEscapedSpaces
      ? []
      : wholeText(text, 'codes', decodeLetters)),
    ...(rot13Word.test(text) ? wholeText(text, 'rot13', rot13) : []),
    ...(backwardsWord.test(text) ? wholeText(text, 'reversed', backwards) : []),
  ]
}

/** The same for a call's text, cached for several detectors. */
export const hiddenIn: (text: CallText) => readonly HiddenText[] = onceForText(({ text }) =>
  decodeHidden(text),
)

function passages(
  text: string,
  pattern: RegExp,
  encoding: HiddenText['encoding'],
  decode: (passage: string) => string,
): HiddenText[] {
  const found: HiddenText[] = []
  for (const match of findMatches(text, pattern)) {
    if (found.length === maxPassages) break
    const decoded = decode(match[0])
    if (isReadable(decoded)) {
      found.push({ start: match.index, end: match.index + match[0].length, encoding, text: decoded })
    }
  }
  return found
}

/** Decodings of the whole text, for short texts only: nobody types a book backwards. */
function wholeText(
  text: string,
  encoding: HiddenText['encoding'],
  rewrite: (text: string) => string,
): HiddenText[] {
  if (text.length < 12 || text.length > 20_000) return []
  const rewritten = rewrite(text)
  return rewritten === text ? [] : [{ start: 0, end: text.length, encoding, text: rewritten }]
}

/** JSON that was truncated or not parsed is kept as text with its escapes. */
const escaped = /\\u[0-9a-f]{4}/i

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|[nrt])/gi, (_, code?: string) =>
    code === undefined ? '\n' : String.fromCharCode(parseInt(code, 16)),
  )
}

/** Jailbreak words backwards: reading every text reversed would double the cost. */
const backwardsWord =
  /snoitcurtsn|erongi|drager|tegrof|selur|gnihtyna|snoitcirtser|\b(?:eht|dna|htiw|ruoy|woh)\b[^]{1,200}?\b(?:eht|dna|htiw|ruoy|ekam|lliw)\b/i

/** The same words in rot13, or two that every English text has. */
const rot13Word =
  /vafgehpgvba|vtaber|qvfertneq|sbetrg nyy|flfgrz cebzcg|erfgevpgvba|\b(?:gur|naq|lbhe?|ubj|gurz|gurl|jvgu)\b[^]{1,200}?\b(?:gur|naq|lbhe?|gurz|gurl|znxr|jvgu|gung|gb)\b/i

/** Also base64 of base64. */
function fromBase64(passage: string): string {
  const decoded = Buffer.from(passage, 'base64').toString('utf8')
  return /^[A-Za-z0-9+/]{24,}={0,2}$/.test(decoded)
    ? Buffer.from(decoded, 'base64').toString('utf8')
    : decoded
}

function fromHex(passage: string): string {
  return Buffer.from(passage.replace(/\\x|0x|[ ,]/g, ''), 'hex').toString('utf8')
}

function fromTags(passage: string): string {
  return Array.from(passage, (letter) => String.fromCharCode((letter.codePointAt(0) ?? 0) - 0xe0000)).join('')
}

function fromSelectors(passage: string): string {
  const bytes = Array.from(passage, (selector) => {
    const code = selector.codePointAt(0) ?? 0
    return code < 0xe0000 ? code - 0xfe00 : code - 0xe0100 + 16
  })
  return Buffer.from(bytes).toString('utf8')
}

/** Either character may be the 1: both are tried. */
function fromBits(passage: string): string {
  const rarestLast = [...new Set(passage)].sort((a, b) => passage.split(b).length - passage.split(a).length)
  const [first = '', second = ''] = rarestLast
  const read = (zero: string, one: string) => {
    const bits = Array.from(passage, (sign) => (sign === zero ? '0' : sign === one ? '1' : '')).join('')
    return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2))).toString('utf8')
  }
  const text = read(first, second)
  return isReadable(text) ? text : read(second, first)
}

const morseCodes: ReadonlyMap<string, string> = new Map(
  '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..'
    .split(' ')
    .map((code, index) => [code, String.fromCharCode(0x61 + index)]),
)

/** Anything but a letter makes the whole unreadable. */
function fromMorse(passage: string): string {
  const words = passage.split(/ ?\/ ?| {2,3}/)
  return words
    .map((word) =>
      word
        .split(' ')
        .map((code) => morseCodes.get(code) ?? '\ufffd')
        .join(''),
    )
    .join(' ')
}

function fromSpelled(passage: string): string {
  return passage.replace(/[ .\-_*|]{1,3}/gu, (sign) => (sign.length > 1 ? ' ' : ''))
}

function joinSpelled(text: string): string {
  return text.replace(spelledWord, (word) => word.replace(/[_.\-*|]/g, ''))
}

function decodeLetters(text: string): string {
  return text.replace(escape, (_whole, ...groups: (string | undefined)[]) => {
    const hex = groups[0] ?? groups[1] ?? groups[2]
    return String.fromCharCode(hex === undefined ? Number(groups[3]) : parseInt(hex, 16))
  })
}

const leetLetters: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
}

function unleet(text: string): string {
  return text.replace(leetWord, (word) => word.replace(/[013457@$]/g, (sign) => leetLetters[sign] ?? sign))
}

function timesIn(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

function isReadable(text: string): boolean {
  if (text.length < 12 || text.includes('\ufffd')) return false
  const letters = text.match(/[\p{L}\p{Zs}\p{P}\n]/gu)?.length ?? 0
  return letters / Array.from(text).length > 0.85 && /\p{Zs}|\p{Lo}|^\p{L}+$/u.test(text)
}
