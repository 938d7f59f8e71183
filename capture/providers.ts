import type { CallShape } from './call-shapes.ts'

/** Providers by the end of the host name; the first match decides. */
const providerByHost: readonly (readonly [string, string])[] = [
  ['.openai.azure.com', 'azure'],
  ['.cognitiveservices.azure.com', 'azure'],
  ['.services.ai.azure.com', 'azure'],
  ['openai.com', 'openai'],
  ['anthropic.com', 'anthropic'],
  ['googleapis.com', 'google'],
  ['mistral.ai', 'mistral'],
  ['cohere.com', 'cohere'],
  ['cohere.ai', 'cohere'],
  ['.amazonaws.com', 'bedrock'],
  ['groq.com', 'groq'],
  ['together.xyz', 'together'],
  ['fireworks.ai', 'fireworks'],
  ['openrouter.ai', 'openrouter'],
  ['deepseek.com', 'deepseek'],
  ['x.ai', 'xai'],
  ['perplexity.ai', 'perplexity'],
  ['ollama.com', 'ollama'],
  ['voyageai.com', 'voyage'],
]

/** Providers that run at any host, by their own paths. */
const providerByPath: readonly (readonly [RegExp, string])[] = [
  [/\/openai\/deployments\//, 'azure'],
  [/\/api\/(?:chat|generate|embed)(?:\?|$)/, 'ollama'],
]

const region = String.raw`(?:us|eu|apac|au|jp|ca|us-gov|global)\.`
const makers = 'ai21|amazon|anthropic|cohere|deepseek|google|meta|mistral|nvidia|openai|qwen|writer'
/** Prefixes of Bedrock's model names: the region of an inference profile, and the maker. */
export const bedrockRegion = new RegExp(`^${region}`)
export const bedrockPrefix = new RegExp(String.raw`^(?:${region})?(?:${makers})\.(?=[a-z])`)

/** Makers by the start of a model's name, after a host prefix such as `openai/`. */
const providerByModel: readonly (readonly [RegExp, string])[] = [
  [/^(?:gpt|chatgpt|o[1-9](?:$|-)|text-embedding-|text-davinci|davinci|babbage|codex|ft:gpt)/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^(?:gemini|gemma|palm(?!yra)|text-bison|chat-bison)/, 'google'],
  [/^(?:open-)?(?:mistral|mixtral|codestral|ministral|pixtral|magistral|devstral)/, 'mistral'],
  [/^(?:command|c4ai|(?:embed|rerank)-(?:english|multilingual|v[34]))/, 'cohere'],
  [/^(?:voyage-|rerank-(?:lite-)?[12])/, 'voyage'],
  [/^(?:meta-)?llama/, 'meta'],
  [/^grok/, 'xai'],
  [/^deepseek/, 'deepseek'],
  [/^amazon\.|^nova-|^titan-/, 'amazon'],
]

const providerByShape: Partial<Record<CallShape, string>> = {
  messages: 'anthropic',
  generate_content: 'google',
  interactions: 'google',
  conversation: 'mistral',
  cohere_chat: 'cohere',
  converse: 'bedrock',
}

/** The provider by host name, or by a path that only one provider has; null if unknown. */
export function providerOfUpstream(host: string, path: string): string | null {
  const found = providerByHost.find(
    ([end]) => host === end || host.endsWith(end.startsWith('.') ? end : `.${end}`),
  )
  if (found !== undefined) return found[1]
  return providerByPath.find(([its]) => its.test(path))?.[1] ?? null
}

/** The maker of the first known model, or else the provider that uses the shape; null if unknown. */
export function providerOfCall(models: readonly (string | null)[], shape: CallShape | null): string | null {
  const ofShape = shape === null ? null : (providerByShape[shape] ?? null)
  // Only Bedrock uses this shape, and it has its own prices for other makers' models.
  if (shape === 'converse') return ofShape
  return models.map(makerOf).find((maker) => maker !== undefined) ?? ofShape
}

function makerOf(model: string | null): string | undefined {
  const name = model?.slice(model.lastIndexOf('/') + 1).toLowerCase() ?? ''
  const names = [name.replace(bedrockRegion, ''), name.replace(bedrockPrefix, '')]
  return providerByModel.find(([begins]) => names.some((each) => begins.test(each)))?.[1]
}
