import { countOf, fieldAt, listOf, objectOf, textOf } from './json.ts'
import { usageIn } from './usage.ts'
import type { TokenPart } from './token-cost.ts'

const media = ['audio', 'image', 'video'] as const
type Medium = (typeof media)[number]
type Count = (medium: Medium) => number | undefined

type Parts = Partial<Record<TokenPart, number>>

/**
 * Tokens of an answer that are not text. `isGrounded`: hosted tools found content with a search that has a
 * fee.
 */
export function tokenPartsOf(responseBody: unknown, isGrounded: boolean): Parts {
  const usage = usageIn(responseBody)
  const google = fieldAt(responseBody, 'usageMetadata')
  if (google !== undefined) return googleParts(google, isGrounded)
  return fieldAt(usage, 'total_input_tokens') === undefined
    ? partsOfUsage(usage)
    : interactionParts(usage, isGrounded)
}

/** OpenAI's two formats, and LangChain's. */
export function partsOfUsage(usage: unknown): Parts {
  const read = detailsIn(usage, ['prompt_tokens_details', 'input_tokens_details', 'input_token_details'])
  const said = detailsIn(usage, [
    'completion_tokens_details',
    'output_tokens_details',
    'output_token_details',
  ])
  const [inRead, inSaid] = [countIn(read), countIn(said)]
  const cached = fieldAt(read, 'cached_tokens_details')
  // If cached tokens are not split by kind, assume these were cached: the price is right where both cost the
  // same.
  const ofAny = countOf(fieldAt(read, 'cached_tokens')) ?? 0
  const inCache: Count = (medium) =>
    objectOf(cached) === undefined ? Math.min(inRead(medium) ?? 0, ofAny) : countIn(cached)(medium)
  return joined(inRead, inCache, inSaid)
}

function detailsIn(usage: unknown, names: readonly string[]): unknown {
  return names
    .map((name) => fieldAt(usage, name))
    .find((details) => details !== undefined && details !== null)
}

function countIn(details: unknown): Count {
  return (medium) => countOf(fieldAt(details, `${medium}_tokens`)) ?? countOf(fieldAt(details, medium))
}

function googleParts(usage: unknown, isGrounded: boolean): Parts {
  const count = (...names: readonly string[]) =>
    countListed(
      names.flatMap((name) => listOf(fieldAt(usage, name))),
      'tokenCount',
    )
  return {
    ...joined(
      count('promptTokensDetails', ...(isGrounded ? [] : ['toolUsePromptTokensDetails'])),
      count('cacheTokensDetails'),
      count('candidatesTokensDetails', 'responseTokensDetails'),
    ),
    ...(isGrounded ? groundedIn(usage, 'toolUsePromptTokenCount') : {}),
  }
}

/** The same for Google's interactions. */
function interactionParts(usage: unknown, isGrounded: boolean): Parts {
  const count = (...names: readonly string[]) =>
    countListed(
      names.flatMap((name) => listOf(fieldAt(usage, `${name}_tokens_by_modality`))),
      'tokens',
    )
  return {
    ...joined(count('input', ...(isGrounded ? [] : ['tool_use'])), count('cached'), count('output')),
    ...(isGrounded ? groundedIn(usage, 'total_tool_use_tokens') : {}),
  }
}

function groundedIn(usage: unknown, name: string): Parts {
  const found = countOf(fieldAt(usage, name)) ?? 0
  return found > 0 ? { grounded_input: found } : {}
}

function countListed(details: readonly unknown[], field: string): Count {
  return (medium) => {
    const ofMedium = details.filter((detail) => textOf(fieldAt(detail, 'modality'))?.toLowerCase() === medium)
    return ofMedium.reduce<number>((sum, detail) => sum + (countOf(fieldAt(detail, field)) ?? 0), 0)
  }
}

/** Cached tokens are included in those read. */
function joined(read: Count, cached: Count, said: Count): Parts {
  const counts = media.flatMap((medium) => {
    const ofCache = cached(medium) ?? 0
    return [
      [`${medium}_input`, Math.max(0, (read(medium) ?? 0) - ofCache)],
      [`${medium}_cached_input`, ofCache],
      [`${medium}_output`, said(medium) ?? 0],
    ] as const
  })
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}
