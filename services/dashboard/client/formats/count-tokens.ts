import { formatCount } from './format-number.ts'

/** As stored: four disjoint parts. The prompt excludes cached tokens, the completion reasoning tokens. */
export interface TokenParts {
  prompt_tokens: number | null
  cached_tokens: number | null
  completion_tokens: number | null
  reasoning_tokens: number | null
}

/** Input and output tokens as providers bill them; null: unknown. */
export function countTokens(parts: TokenParts): {
  read: number | null
  written: number | null
  all: number | null
} {
  const read = sumOfKnown(parts.prompt_tokens, parts.cached_tokens)
  const written = sumOfKnown(parts.completion_tokens, parts.reasoning_tokens)
  return { read, written, all: sumOfKnown(read, written) }
}

/** 10,000 in (9,600 cached), 500 out (450 reasoning). */
export function describeTokens(parts: TokenParts): string {
  const { read, written } = countTokens(parts)
  const part = (count: number | null, name: string) =>
    count === null || count === 0 ? '' : ` (${formatCount(count)} ${name})`
  return (
    `${formatCount(read)} in${part(parts.cached_tokens, 'cached')}, ` +
    `${formatCount(written)} out${part(parts.reasoning_tokens, 'reasoning')}`
  )
}

function sumOfKnown(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0)
}
