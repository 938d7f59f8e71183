import type { ModelPrompt } from '../scoring/judge/model-request.ts'

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
/** Tokens that a guard's template adds: its policy. Llama Guard's with descriptions has about 1,000. */
const policyTokens = 2_000
/** Typical of English prose. Used only for rate limits, which are corrected afterwards. */
const likelyBytesOfToken = 4

/** Maximum and likely tokens of a prompt. The maximum is one token per byte, true for any tokenizer. */
export function maxTokensOf(prompt: ModelPrompt): {
  prompt: number
  completion: number
  likely: number
} {
  const bytes = textsOf(prompt).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const added = 'messages' in prompt ? policyTokens : framingTokens
  return {
    prompt: bytes + added,
    completion: prompt.answerTokens,
    likely: Math.ceil(bytes / likelyBytesOfToken) + prompt.answerTokens,
  }
}

function textsOf(prompt: ModelPrompt): string[] {
  if ('messages' in prompt) return prompt.messages.map(({ content }) => content)
  return [prompt.system, prompt.user, JSON.stringify(prompt.schema)]
}
