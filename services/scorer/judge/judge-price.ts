import type { JudgePrompt } from '../scoring/judge/judge-prompt.ts'

/** US dollars per million tokens of the judge's model. */
export interface JudgePrice {
  input: number
  /** Price of input tokens that the provider had cached. */
  cachedInput: number
  output: number
}

/** Cost of one request. `promptTokens` includes `cachedTokens`. */
export function costOf(
  price: JudgePrice,
  promptTokens: number,
  completionTokens: number,
  cachedTokens = 0,
): number {
  const fresh = (promptTokens - cachedTokens) * price.input
  return (fresh + cachedTokens * price.cachedInput + completionTokens * price.output) / 1_000_000
}

/** Tokens a provider adds around two messages and a schema. */
const framingTokens = 200
/** Typical of English prose. Used only for rate limits, which are corrected afterwards. */
const likelyBytesOfToken = 4

/** Maximum and likely tokens of a prompt. The maximum is one token per byte, true for any tokenizer. */
export function maxTokensOf({ system, user, schema, answerTokens }: JudgePrompt): {
  prompt: number
  completion: number
  likely: number
} {
  const bytes = [system, user, JSON.stringify(schema)].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return {
    prompt: bytes + framingTokens,
    completion: answerTokens,
    likely: Math.ceil(bytes / likelyBytesOfToken) + answerTokens,
  }
}
