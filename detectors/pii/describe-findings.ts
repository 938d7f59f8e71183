import type { Evidence } from '../call-text.ts'
import type { Finding } from '../verdict.ts'
import { identifierKinds, type IdentifierKind } from './identifier.ts'

/** What was found in a call. `examples` are masked. */
export interface Tally {
  evidence: readonly Evidence[]
  examples: readonly string[]
  counts: ReadonlyMap<IdentifierKind, number>
}

/** Whose they are is read from the words around them, which proves nothing. */
const estimated: ReadonlySet<IdentifierKind> = new Set(['street_address', 'birth_date', 'geo_position'])

/** The finding in words, without a value that was found. */
export function describeFindings({ counts, examples, evidence }: Tally): Finding {
  if (counts.size === 0) {
    const rationale =
      'No structured personal identifier, no secret and no sign of a private person was found.'
    return { value: 1, rationale, contentFreeRationale: rationale, evidence }
  }
  const found = `Found ${listOf(counts)}.`
  const isEstimate = counts.keys().every((kind) => estimated.has(kind))
  return {
    value: Math.max(...Array.from(counts.keys(), (kind) => identifierKinds[kind].level)),
    rationale: `${found} For instance ${examples.join(', ')}.`,
    contentFreeRationale: found,
    evidence,
    ...(isEstimate ? { isEstimate } : {}),
  }
}

function listOf(counts: ReadonlyMap<IdentifierKind, number>): string {
  const parts = Array.from(counts, ([kind, count]) => {
    const { singular, plural } = identifierKinds[kind]
    return `${count} ${count === 1 ? singular : plural}`
  })
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`
}
