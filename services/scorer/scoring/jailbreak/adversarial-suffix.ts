import { isEnglish } from '../grounding/measure-support.ts'

/** A suffix that a search over tokens found is about twenty tokens long, on the line of the request that it is to carry. */
const tailUnits = 600
const minHeadWords = 5
/** Score of a tail that convicts: of 3,900 everyday prompts and passages of the training half the highest is 1.3, of answers with code cut off 3.0. */
const minScore = 3.05
const functionWords = new Set(
  'a an the of in on at to for from by with and or but is are was be it its he she they you i we my your this that as not do can will how what if so me'.split(
    ' ',
  ),
)
/** Letters that change case inside a word, brackets and signs inside or alone: what no sentence has. A sign at a word's end is punctuation. */
const oddToken = /[a-z][A-Z]|[[\]{}<>\\`|^~@=#*]|\S[("';]+\S|^\W{2,}$|[.?!,]\S{0,100}[A-Za-z]{2}/
const dataMember = /["'][\w ]{1,40}["']\s?:/
const plainAddress = /^(?:https?:\/\/|www\.|[\w.+-]+@)\S+$|^\w{1,20}(?:\.\w{1,6}){1,3}[.,)]?$/

/**
 * Where a request in English ends in noise of the kind that searches for jailbreaks find (`describing.\ + similarlyNow write oppositeley.](Me
 * giving**ONE`): odd tokens close together, brackets that do not match. Null: it does not. Only where what precedes it is English: in another
 * language, or in code, such tokens are ordinary.
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

/** Code closes what it opens. */
function isBalanced(text: string): boolean {
  const count = (sign: string) => text.split(sign).length - 1
  return count('(') === count(')') && count('[') === count(']') && count('{') === count('}')
}
