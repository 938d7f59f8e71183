import { fieldAt, listOf, objectOf, type JsonObject } from '#capture/json.ts'
import { shapeOfPath } from '#capture/call-shapes.ts'
import type { PriceTable } from '#capture/price-table.ts'
import { providerOfCall } from '#capture/providers.ts'
import { picodollarsOf } from '#schemas/picodollars.ts'

/** Usual text has about four bytes a token, with the JSON around it. */
const bytesPerToken = 4
/** Of a call that names no limit. */
const usualOutputTokens = 4_096
/** Longer text without a space is an image, a recording or a document in base64. */
const mediaLength = 4_096
/** What providers count for a large image. */
const mediaTokens = 1_600

/** Calls that answer no text: embeddings and rankings. */
const withoutOutput = /\/(?:embeddings?|embed|rerank)$|:(?:embedContent|batchEmbedContents)$/i

interface EstimatedCall {
  models: readonly string[]
  /** Of the upstream; null: by the model. */
  provider: string | null
  path: string
  /** Undefined: unreadable. */
  body: JsonObject | undefined
  byteLength: number
}

/**
 * What a call may cost at list price, in picodollars: its input by its bytes, and as much output as it may
 * have. Of several models the dearest. Null where one has no price.
 */
export function estimateCall(
  { models, provider, path, body, byteLength }: EstimatedCall,
  prices: PriceTable,
): bigint | null {
  const tokens = {
    prompt_tokens: body === undefined ? Math.ceil(byteLength / bytesPerToken) : inputTokens(body),
    completion_tokens: withoutOutput.test(path.split('?', 1)[0] ?? '') ? 0 : outputLimit(body),
    cached_tokens: null,
    reasoning_tokens: null,
  }
  const costs = models.map((model) => {
    const host = provider ?? providerOfCall([model], shapeOfPath(path))
    return prices.costOf({ model, provider: host }, tokens)
  })
  if (costs.length === 0 || costs.includes(null)) return null
  return picodollarsOf(Math.max(...costs.map((cost) => cost ?? 0)))
}

/** Walks without recursion: a body may be nested deeply. */
function inputTokens(body: JsonObject): number {
  let [bytes, media] = [0, 0]
  const left: unknown[] = [body]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'string') {
      if (value.length >= mediaLength && !value.includes(' ')) media += 1
      else bytes += Buffer.byteLength(value) + 2
    } else if (Array.isArray(value)) for (const each of value as unknown[]) left.push(each)
    else {
      const object = objectOf(value)
      if (object === undefined) bytes += 4
      else
        for (const [name, each] of Object.entries(object)) {
          bytes += name.length + 4
          left.push(each)
        }
    }
  }
  return Math.ceil(bytes / bytesPerToken) + media * mediaTokens
}

const limitPlaces = [
  ['max_completion_tokens'],
  ['max_tokens'],
  ['max_output_tokens'],
  ['max_tokens_to_sample'],
  ['generationConfig', 'maxOutputTokens'],
  ['generation_config', 'max_output_tokens'],
  ['inferenceConfig', 'maxTokens'],
  ['options', 'num_predict'],
] as const
const countPlaces = [['n'], ['generationConfig', 'candidateCount']] as const

function outputLimit(body: JsonObject | undefined): number {
  const limit = numberIn(body, limitPlaces) ?? usualOutputTokens
  // A list of prompts has an answer each.
  const prompts = Math.max(1, listOf(fieldAt(body, 'prompt')).filter(isText).length)
  return limit * (numberIn(body, countPlaces) ?? 1) * prompts
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

/** The largest: a provider reads one of them. */
function numberIn(body: JsonObject | undefined, places: readonly (readonly string[])[]): number | undefined {
  const found = places
    .map((place) => fieldAt(body, ...place))
    .filter((value) => typeof value === 'number' && Number.isFinite(value) && value > 0)
  return found.length === 0 ? undefined : Math.max(...(found as number[]))
}
