import type { Call, Evidence } from '../call-text.ts'
import type { Finding } from '../verdict.ts'
import { findEmails, findIpAddresses, findPhoneNumbers } from './find-contacts.ts'
import { findDocuments } from './find-documents.ts'
import { findSecrets } from './find-secrets.ts'
import { identifierKinds, type Identifier, type IdentifierFinder, type IdentifierKind } from './identifier.ts'

/** In order of trust: where two overlap, the earlier finder's stays. */
const finders: readonly IdentifierFinder[] = [
  findSecrets,
  findEmails,
  findDocuments,
  findIpAddresses,
  findPhoneNumbers,
]

/** Rules that decide differently get a new version, so that scores say which rules made them. */
export const piiVersion = 'detector-1'
const mostEvidence = 100
const mostExamples = 5

/** Structured identifiers and secrets in either body. Names and addresses are not looked for. */
export function detectPii(call: Call): Finding {
  const evidence: Evidence[] = []
  const examples: string[] = []
  const counts = new Map<IdentifierKind, number>()
  for (const { part, pointer, text } of call.texts) {
    for (const { kind, start, end } of findIdentifiers(text)) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      if (evidence.length < mostEvidence) evidence.push({ part, pointer, start, end, kind })
      if (examples.length < mostExamples) examples.push(maskIdentifier(kind, text.slice(start, end)))
    }
  }
  if (counts.size === 0) {
    const rationale =
      'No structured personal identifier and no secret was found. Names and addresses are not looked for.'
    return { value: 1, rationale, contentFreeRationale: rationale, evidence }
  }
  const found = `Found ${listOf(counts)}.`
  return {
    value: Math.max(...Array.from(counts.keys(), (kind) => identifierKinds[kind].level)),
    rationale: `${found} For instance ${examples.join(', ')}.`,
    contentFreeRationale: found,
    evidence,
  }
}

/** The identifiers in a text, in its order, none overlapping another. */
export function findIdentifiers(text: string): Identifier[] {
  const kept: Identifier[] = []
  for (const find of finders) {
    const found = Array.from(find(text)).sort(
      (left, right) => left.start - right.start || right.end - left.end,
    )
    for (const identifier of found) if (!overlapsAny(kept, identifier)) kept.push(identifier)
    kept.sort((left, right) => left.start - right.start)
  }
  return kept
}

/** `sorted` holds no overlaps, so only the neighbours of the place where it would go matter. */
function overlapsAny(sorted: readonly Identifier[], { start, end }: Identifier): boolean {
  return sorted.some((other) => other.start < end && start < other.end)
}

/** Enough to recognise it, too little to use it: a card's last four digits, an e-mail's first letter and domain. */
export function maskIdentifier(kind: IdentifierKind, value: string): string {
  if (kind === 'email_address') return `${value.charAt(0)}•••${value.slice(value.indexOf('@'))}`
  if (kind === 'secret') return `${value.slice(0, 4)}•••`
  const symbols = value.replace(/[^\p{L}\p{N}]/gu, '')
  const shown = symbols.length >= 12 ? 4 : 2
  return `•••${symbols.slice(-shown)}`
}

/** The text with every identifier in it masked. */
export function maskIdentifiers(text: string): string {
  let masked = ''
  let from = 0
  for (const { kind, start, end } of findIdentifiers(text)) {
    masked += text.slice(from, start) + maskIdentifier(kind, text.slice(start, end))
    from = end
  }
  return masked + text.slice(from)
}

function listOf(counts: ReadonlyMap<IdentifierKind, number>): string {
  const parts = Array.from(counts, ([kind, count]) => {
    const { singular, plural } = identifierKinds[kind]
    return `${count} ${count === 1 ? singular : plural}`
  })
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`
}
