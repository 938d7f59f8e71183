import { hostedUsesOf } from './hosted-uses.ts'
import { tokenParts as tokenPartNames, type TokenPart } from './token-cost.ts'
import { tokenPartsOf } from './token-parts.ts'

/** What of an answer costs other than text tokens do. */
export interface BilledParts {
  /** What of the tokens is no text. */
  tokenParts: Readonly<Partial<Record<TokenPart, number>>>
  /** How often the provider used each tool of its own. */
  hostedUses: Readonly<Record<string, number>>
}

/** A hostile answer can name as many as fit in it; no price list names so many. */
const maxParts = 100
const maxNameLength = 64

export function billedPartsOf(requestBody: unknown, responseBody: unknown): BilledParts {
  const hostedUses = hostedUsesOf(requestBody, responseBody)
  const isGrounded = ['google_search', 'google_maps'].some((name) => Object.hasOwn(hostedUses, name))
  return { tokenParts: tokenPartsOf(responseBody, isGrounded), hostedUses }
}

/**
 * Both in one, as a record has them whose answer does not stand in it whole; undefined where there are
 * none.
 */
export function joinParts({ tokenParts, hostedUses }: BilledParts): Record<string, number> | undefined {
  const named = Object.entries<number>({ ...hostedUses, ...tokenParts }).slice(0, maxParts)
  if (named.length === 0) return undefined
  return Object.fromEntries(
    named.map(([name, count]) => [name.slice(0, maxNameLength).toWellFormed() || 'unknown', count]),
  )
}

/** What joinParts joined. */
export function splitParts(billed: Readonly<Record<string, number>>): BilledParts {
  const isToken = ([name]: readonly [string, number]) => tokenPartNames.includes(name as TokenPart)
  const entries = Object.entries(billed)
  return {
    tokenParts: Object.fromEntries(entries.filter(isToken)),
    hostedUses: Object.fromEntries(entries.filter((entry) => !isToken(entry))),
  }
}
