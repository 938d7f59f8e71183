import { rot13 } from '../phrases/rewrite-units.ts'

/** The ways to say one secret. */
export interface SecretForms {
  /** Where an answer says it, whatever the form; null: it does not. */
  find(answer: string): { start: number; end: number } | null
}

const separator = String.raw`[\s\-–._,:;*|/+·]{1,4}`
/** Ten digits as words: English, German, French, Spanish. */
const digitWords = [
  'zero|oh|null|zéro|cero',
  'one|eins|un|uno',
  'two|zwei|zwo|deux|dos',
  'three|drei|trois|tres',
  'four|vier|quatre|cuatro',
  'five|fünf|cinq|cinco',
  'six|sechs|seis',
  'seven|sieben|sept|siete',
  'eight|acht|huit|ocho',
  'nine|neun|neuf|nueve',
]
const minReversed = 5
const minAcrostic = 4
const saysBackwards = /\b(?:backwards?|revers\w+|rückwärts|envers|revés|contrario|achterstevoren)\b/i

const escapeSign = (sign: string) => sign.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
const alone = (source: string) =>
  new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${source})(?![\p{L}\p{N}])`, 'giu')

/** Compiles the forms of a secret of at least four letters and digits. */
export function formsOf(secret: string): SecretForms {
  const signs = Array.from(secret).filter((sign) => /[\p{L}\p{N}]/u.test(sign))
  const letters = signs.join('').toLowerCase()
  const hasDigit = /\d/.test(letters)
  const backwards = [...signs].reverse()
  const plain = [
    escapeSign(secret),
    ...(hasDigit ? [compact(signs)] : []),
    ...(signs.length >= 4 ? [apart(signs)] : []),
  ]
  const turned =
    signs.length >= minReversed && !/^\d+$/.test(letters)
      ? alone(`${backwards.map(escapeSign).join('')}|${apart(backwards)}`)
      : null
  const turnedIfSaid = alone(
    `${backwards.map(escapeSign).join('')}|${escapeSign(Array.from(secret).reverse().join(''))}|${apart(backwards)}`,
  )
  const asWritten = alone(plain.join('|'))
  return {
    find(answer) {
      const match =
        asWritten.exec(answer) ??
        turned?.exec(answer) ??
        (saysBackwards.test(answer) ? turnedIfSaid.exec(answer) : null)
      for (const pattern of [asWritten, turned, turnedIfSaid]) if (pattern !== null) pattern.lastIndex = 0
      if (match !== null) return { start: match.index, end: match.index + match[0].length }
      return (
        encodedIn(answer, secret) ?? (isAcrostic(answer, letters) ? { start: 0, end: answer.length } : null)
      )
    },
  }
}

/** With other signs between, or none, and digits as words: `HB 77`, `hb77`. */
function compact(signs: readonly string[]): string {
  return signs.map(signOrWord).join(String.raw`[\s\-–._,:;*|/+·]{0,4}`)
}

/** Each sign for itself: `P-L-U-M`, `four four seven one`. */
function apart(signs: readonly string[]): string {
  return signs.map(signOrWord).join(separator)
}

function signOrWord(sign: string): string {
  const word = /^\d$/.test(sign) ? digitWords[Number(sign)] : undefined
  return word === undefined ? escapeSign(sign) : `(?:${sign}|${word})`
}

function encodedIn(answer: string, secret: string): { start: number; end: number } | null {
  const bytes = Buffer.from(secret)
  const encodings = [
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
    ...(secret.length >= minReversed && /[a-z]/i.test(secret) ? [rot13(secret)] : []),
  ]
  for (const encoding of encodings) {
    const start = answer.indexOf(encoding)
    if (start !== -1) return { start, end: start + encoding.length }
  }
  return null
}

/** Whether lines or sentences begin with its letters in order. */
function isAcrostic(answer: string, letters: string): boolean {
  if (letters.length < minAcrostic || !/^\p{L}+$/u.test(letters)) return false
  const initials = (parts: readonly string[]) =>
    parts
      .map((part) => /\p{L}/u.exec(part)?.[0] ?? '')
      .join('')
      .toLowerCase()
  const lines = answer.split(/\n+/)
  return initials(lines).includes(letters) || initials(answer.split(/(?<=[.!?])\s+/)).includes(letters)
}
