import type { JudgePrompt } from '../scoring/judge/judge-prompt.ts'

/** US dollars for a million tokens of the judge's model. */
export interface JudgePrice {
  input: number
  output: number
}

/** What a request costs: tokens that are cached at the provider count in full, so that a budget errs on the safe side. */
export function costOf(price: JudgePrice, promptTokens: number, completionTokens: number): number {
  return (promptTokens * price.input + completionTokens * price.output) / 1_000_000
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
