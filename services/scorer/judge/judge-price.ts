import type { JudgePrompt } from '../scoring/judge/judge-prompt.ts'

/** US dollars for a million tokens of the judge's model. */
export interface JudgePrice {
  input: number
  /** Of what the provider has read before. */
  cachedInput: number
  output: number
}

/** What a request costs. `cachedTokens` are part of `promptTokens`. */
export function costOf(
  price: JudgePrice,
  promptTokens: number,
  completionTokens: number,
  cachedTokens = 0,
): number {
  const fresh = (promptTokens - cachedTokens) * price.input
  return (fresh + cachedTokens * price.cachedInput + completionTokens * price.output) / 1_000_000
}

/** What a provider puts around two messages and a schema. */
const framingTokens = 200
/** English prose; only rates are held against it, and corrected afterwards. */
const likelyBytesOfToken = 4

/** How many tokens a prompt can cost at most, and likely will. A token is a byte at least, whatever the tokenizer and the text. */
export function mostTokensOf({ system, user, schema, answerTokens }: JudgePrompt): {
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
