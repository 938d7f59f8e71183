import { hostedUsesOf } from './hosted-uses.ts'
import { tokenParts as tokenPartNames, type TokenPart } from './token-cost.ts'
import { tokenPartsOf } from './token-parts.ts'

/** What of an answer is billed other than as text tokens. */
export interface BilledParts {
  /** Tokens that are not text. */
  tokenParts: Readonly<Partial<Record<TokenPart, number>>>
  /** Number of uses of each hosted tool. */
  hostedUses: Readonly<Record<string, number>>
}

/** A hostile answer can name very many; no price list names so many. */
const maxParts = 100
const maxNameLength = 64

export function billedPartsOf(requestBody: unknown, responseBody: unknown): BilledParts {
  const hostedUses = hostedUsesOf(requestBody, responseBody)
  const isGrounded = ['google_search', 'google_maps'].some((name) => Object.hasOwn(hostedUses, name))
  return { tokenParts: tokenPartsOf(responseBody, isGrounded), hostedUses }
}

/** Both as one object, for a record whose answer is incomplete; undefined if empty. */
export function joinParts({ tokenParts, hostedUses }: BilledParts): Record<string, number> | undefined {
  const named = Object.entries<number>({ ...hostedUses, ...tokenParts }).slice(0, maxParts)
  if (named.length === 0) return undefined
  return Object.fromEntries(
    named.map(([name, count]) => [name.slice(0, maxNameLength).toWellFormed() || 'unknown', count]),
  )
}

/** The inverse of joinParts. */
export function splitParts(billed: Readonly<Record<string, number>>): BilledParts {
  const isToken = ([name]: readonly [string, number]) => tokenPartNames.includes(name as TokenPart)
  const entries = Object.entries(billed)
  return {
    tokenParts: Object.fromEntries(entries.filter(isToken)),
    hostedUses: Object.fromEntries(entries.filter((entry) => !isToken(entry))),
  }
}
