import { isEnglish } from '../grounding/measure-support.ts'

/** Suffixes found by token search are about twenty tokens long, on the same line as the request. */
const tailUnits = 600
const minHeadWords = 5
/**
 * Convicting score. Over 3,900 everyday prompts and passages of the training half the maximum is 1.3, or 3.0
 * for answers with truncated code.
 */
const minScore = 3.05
const functionWords = new Set(
  'a an the of in on at to for from by with and or but is are was be it its he she they you i we my your this that as not do can will how what if so me'.split(
    ' ',
  ),
)
/** Case changes inside a word, brackets and signs inside or alone. Signs at its end are punctuation. */
const oddToken = /[a-z][A-Z]|[[\]{}<>\\`|^~@=#*]|\S[("';]+\S|^\W{2,}$|[.?!,]\S{0,100}[A-Za-z]{2}/
const dataMember = /["'][\w ]{1,40}["']\s?:/
const plainAddress = /^(?:https?:\/\/|www\.|[\w.+-]+@)\S+$|^\w{1,20}(?:\.\w{1,6}){1,3}[.,)]?$/

/**
 * Finds the noise that a jailbreak search appends to an English request (`describing.\ + similarlyNow write
 * oppositeley.](Me giving**ONE`): odd tokens close together, unbalanced brackets. Only after English text:
 * such tokens are normal in code and other languages.
 */
export function findAdversarialSuffix(text: string): { start: number; end: number } | null {
  const lineStart = text.trimEnd().lastIndexOf('\n') + 1
  const from = Math.max(lineStart, text.length - tailUnits)
  const tokens = text
    .slice(from)
    .matchAll(/\S{1,100}/g)
    .toArray()
  let score = 0
  let best = { score: 0, index: -1 }
  for (let at = tokens.length - 1; at >= 0; at--) {
    score += weightOf(tokens[at]?.[0] ?? '')
    if (score > best.score) best = { score, index: at }
  }
  if (best.score < minScore) return null
  const start = from + (tokens[best.index]?.index ?? 0)
  const head = text.slice(Math.max(0, start - 2_000), start)
  const isRequest = (head.match(/\p{L}+/gu)?.length ?? 0) >= minHeadWords && isEnglish(head)
  const isData = isBalanced(text) || dataMember.test(text.slice(start))
  return isRequest && !isData ? { start, end: text.length } : null
}

function weightOf(token: string): number {
  if (functionWords.has(token.toLowerCase())) return -0.5
  return oddToken.test(token) && !plainAddress.test(token) ? 1 : -0.35
}

/** Code closes its brackets. */
function isBalanced(text: string): boolean {
  const count = (sign: string) => text.split(sign).length - 1
  return count('(') === count(')') && count('[') === count(']') && count('{') === count('}')
}
