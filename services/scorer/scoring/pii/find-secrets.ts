import type { Identifier } from './identifier.ts'

/**
 * From its first line to its last, or as far as it goes: headers, and base64 between blanks, escaped line ends, and the quotes of source text.
 */
const privateKey =
  /-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s\\rn]{0,4}[A-Z][A-Za-z-]{1,20}: [^\n\\]{0,200}){0,5}(?:(?!-----)[A-Za-z0-9+/=\s\\:,;"'>|-]){0,16000}(?:-----END [A-Z ]{1,40}-----)?/g
/** The rest of one that begins before the text: read backwards from its last line. */
const endOfPrivateKey =
  /(?<=([A-Za-z0-9+/=\s\\"'>|]{20,16000}))-----END (?:[A-Z]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const base64Line = /[A-Za-z0-9+/=]{20}/

/** Keys that say what they are by their prefix. Lengths are those that the issuers document, or a safe minimum. */
const knownSecrets = [
  /\b(?:AKIA|ASIA|AROA|AIDA)[A-Z2-7]{16}\b/g,
  /\bgh[pousr]_[A-Za-z0-9]{36,251}\b/g,
  /\bgithub_pat_[A-Za-z0-9_]{60,90}\b/g,
  /\bglpat-[A-Za-z0-9_-]{20,60}/g,
  /\bsk-(?:proj-|svcacct-|ant-(?:api|admin)\d{2}-)?[A-Za-z0-9_-]{20,200}/g,
  /\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}\b/g,
  /\bwhsec_[A-Za-z0-9+/=]{24,100}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,250}/g,
  /\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g,
  /\bya29\.[A-Za-z0-9_-]{20,300}/g,
  /\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}/g,
  /\bnpm_[A-Za-z0-9]{36}\b/g,
  /\bpypi-[A-Za-z0-9_-]{50,300}/g,
  /\bhf_[A-Za-z0-9]{30,60}\b/g,
  /\bdop_v1_[a-f0-9]{64}\b/g,
  /\bsvc_(?:[a-z0-9]{1,32}_)?[0-9a-f]{48}\b/g,
  // Signed, or cut off where the text ends.
  /\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}(?:\.[A-Za-z0-9_-]{16,1000}|\.?[A-Za-z0-9_-]{0,15}$)/g,
  privateKey,
  /\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|amqps?):\/\/[^\s:@/]{1,64}:[^\s:@/]{3,128}@/g,
]

/** `password = …` and its like: the value counts when it is too random to be a word or a placeholder. */
const assignedSecret =
  /(?:(?<![A-Za-z0-9])(?:api[_-]?key|secret(?:[_-]?(?:access[_-]?)?key)?|access[_-]?(?:token|key)|auth[_-]?token|client[_-]?secret|private[_-]?key|password|passwd|pwd)["']?\s{0,3}(?::|=|\bis\b)\s{0,3}["']?|\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token)\s{1,3})([^\s"'`,;<>{}()[\]]{8,200})/gi
const leastEntropyBits = 3

export function* findSecrets(text: string): Generator<Identifier> {
  for (const pattern of knownSecrets) {
    for (const match of text.matchAll(pattern)) {
      yield { kind: 'secret', start: match.index, end: match.index + match[0].length }
    }
  }
  for (const match of text.matchAll(endOfPrivateKey)) {
    const before = match[1] ?? ''
    const end = match.index + match[0].length
    if (base64Line.test(before)) yield { kind: 'secret', start: match.index - before.length, end }
  }
  for (const match of text.matchAll(assignedSecret)) {
    const value = match[1] ?? ''
    if (!isRandom(value)) continue
    const start = match.index + match[0].length - value.length
    yield { kind: 'secret', start, end: start + value.length }
  }
}

function isRandom(value: string): boolean {
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((pattern) => pattern.test(value)).length
  return classes >= 2 && /\d/.test(value) && entropyBits(value) >= leastEntropyBits
}

/** Shannon entropy a character. */
function entropyBits(value: string): number {
  const counts = new Map<string, number>()
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}
