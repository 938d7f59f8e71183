import type { Call, CallText, Evidence } from '../call-text.ts'
import { findPlaceholders, isPlaceholder } from '../masking/placeholder.ts'
import type { Detector } from '../verdict.ts'
import { languageOf, type Language } from '../language/identify-language.ts'
import { charactersOf, hasRun } from '../has-run.ts'
import { describeFindings, type Tally } from './describe-findings.ts'
import { fieldNames } from './field-name.ts'
import { findEmails, findIpAddresses, findPhoneNumbers } from './find-contacts.ts'
import { findDocuments } from './find-documents.ts'
import { findPersonalData, findTiedPersonalData } from './find-personal-data.ts'
import { findSecrets } from './find-secrets.ts'
import { hintsAtSecret } from './find-told-secrets.ts'
import { findSpokenNumbers } from './find-spoken-numbers.ts'
import { hintsAtPersons } from './hint-at-persons.ts'
import type { Identifier, IdentifierFinder, IdentifierKind } from './identifier.ts'
import { createLooseFields } from './loose-fields.ts'
import { isPublicContact } from './public-contact.ts'
import { undisguise } from './undisguise.ts'
import { wordGate } from './word-gate.ts'
import { findMatches } from '../find-matches.ts'
import { withoutCode } from '../without-code.ts'

/** In order of trust: where two overlap, the earlier finder wins. */
const finders: readonly IdentifierFinder[] = [
  findSecrets,
  findEmails,
  findDocuments,
  findIpAddresses,
  findPhoneNumbers,
  findSpokenNumbers,
  findTiedPersonalData,
]

/** Changes whenever the rules decide differently, so that scores name their rules. */
export const piiVersion = 'detector-7'
const maxEvidence = 100
const maxExamples = 5
/** In programs these are authors, examples and test data; in definitions of tools, examples. */
const contacts: ReadonlySet<IdentifierKind> = new Set([
  ...(['email_address', 'phone_number', 'ip_address', 'street_address', 'birth_date'] as const),
])
const toolDefinition = /^\/(?:tools|functions|toolConfig)\//

/** Languages whose words for homes, births and passwords are known, and were measured. */
const covered: ReadonlySet<Language> = new Set<Language>([
  ...(['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'tr', 'sv', 'ru', 'zh', 'ja', 'ko', 'ar'] as const),
])

/**
 * Finds, in either body: numbers of cards, accounts, documents and identities of some sixty countries, e-mail
 * and IP addresses, phone numbers in digits and in words, keys, and passwords in prose, commands and files;
 * street addresses and dates of birth if the text says to which person they belong.
 *
 * Does not find: a name alone, a place, an employer, an illness, a relationship; persons described without
 * their name; passwords without a digit; pictures. Is no finding: a public person, an author in a package
 * file, a maintainer in a project's document, a company's address, mailbox or hotline, an example.
 *
 * Where a call was masked before it was stored, a placeholder counts as the value that it stands for.
 *
 * Languages: the fifteen of `covered`; in others only numbers, addresses of computers and keys. What may
 * name a private person or tell a secret, and proves nothing, needs a judge.
 */
export function createPiiDetector(call?: Pick<Call, 'usage'>): Detector {
  const tally = createTally()
  const loose = createLooseFields()
  let isHinted = false
  let isOutside = false
  let hasText = false
  const fieldNameOf = fieldNames()
  const masked = new Set(call?.usage.masked?.map(({ kind }) => kind))
  return {
    read(given) {
      const { speaker, text } = given
      hasText ||= text.trim() !== ''
      const field = fieldNameOf(given)
      // Operators name people freely in their own instructions, most often the assistant.
      if (speaker !== 'system') {
        isHinted ||= hintsAtPersons(text) || hintsAtSecret(text)
        isOutside ||= !isCovered(given)
      }
      const untied = findPersonalData(field + text).filter(({ isTied }) => !isTied)
      isHinted ||= untied.length > 0
      if (field !== '') loose.read(given, field, untied)
      for (const { kind, start, end } of withMasked(text, findIdentifiers(text, field), masked)) {
        // No proof, and nothing to vouch for: some programs hold real people's addresses.
        if (contacts.has(kind) && isAboutNobody(given, kind, start)) isHinted = true
        else tally.add(given, { kind, start, end })
      }
    },
    finding() {
      if (!hasText) return { reason: 'no_text', leaning: 1 }
      for (const { text, datum } of loose.tied()) if (!isExample(text)) tally.add(text, datum)
      if (tally.counts.size > 0) return describeFindings(tally)
      if (isOutside) return { reason: 'language_not_covered', leaning: 1.5 }
      if (isHinted) return { reason: 'detectors_undecided', leaning: 2 }
      return describeFindings(tally)
    },
  }
}

/** Placeholders of kinds that the record says were masked, instead of what else is found there. */
function withMasked(text: string, found: Identifier[], kinds: ReadonlySet<string>): Identifier[] {
  const masked = kinds.size === 0 ? [] : findPlaceholders(text, kinds)
  if (masked.length === 0) return found
  const others = found.filter(({ start, end }) => !masked.some((one) => start < one.end && end > one.start))
  return [...others, ...masked].sort((left, right) => left.start - right.start)
}

/** Four words in a row, or letters of another script. */
const fourWords = /\p{L} \p{L}{1,24} \p{L}{1,24},? \p{L}|[^\0-\u024f\u2000-\u2bff]/u
const [hasThe, hasTo] = [wordGate('the'), wordGate('to')]

/** Names, numbers and code have no language to be told, and are covered. */
function isCovered(given: CallText): boolean {
  const { text } = given
  // Most texts are English or none at all; telling a language takes ten times as long.
  if (!fourWords.test(text) || (hasThe(text) && hasTo(text))) return true
  const language = languageOf(given)
  return language === null || covered.has(language)
}

/** What was found in all texts of a call. */
function createTally(): Tally & { add: (text: CallText, found: Identifier) => void } {
  const evidence: Evidence[] = []
  const examples: string[] = []
  const counts = new Map<IdentifierKind, number>()
  let last: Evidence | undefined
  return {
    evidence,
    examples,
    counts,
    add({ part, pointer, text, offset }, { kind, start, end }) {
      const found = { part, pointer, start: offset + start, end: offset + end, kind }
      // Pieces of a long text overlap: count what is in both once.
      if (offset > 0 && last?.part === part && last.pointer === pointer && found.start < last.end) return
      last = found
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      if (evidence.length < maxEvidence) evidence.push(found)
      const value = text.slice(start, end)
      if (examples.length < maxExamples)
        examples.push(isPlaceholder(value) ? value : maskIdentifier(kind, value))
    },
  }
}

/** Read only where there is a contact: a pointer is costly to read on deep bodies. */
function isAboutNobody(text: CallText, kind: IdentifierKind, start: number): boolean {
  return isExample(text) || (kind === 'email_address' && isPublicContact(text, start))
}

function isExample(text: CallText): boolean {
  return withoutCode(text) !== text || toolDefinition.test(text.pointer)
}

/**
 * Identifiers in a text, plain and undisguised, in order, without overlaps. `field` is prepended as context:
 * often only its key says what a number is.
 */
export function findIdentifiers(text: string, field = ''): Identifier[] {
  return findAll(field + text)
    .filter(({ end }) => end > field.length)
    .map(({ kind, start, end }) => ({
      kind,
      start: Math.max(0, start - field.length),
      end: end - field.length,
    }))
}

function findAll(text: string): Identifier[] {
  const found = [...findPlain(text), ...findEncoded(text)]
  const plain = undisguise(text)
  if (plain !== null) {
    for (const { kind, start, end } of findPlain(plain.text))
      found.push({ kind, start: plain.originOf(start), end: plain.originOf(end) })
  }
  const merged: Identifier[] = []
  for (const next of found.sort((left, right) => left.start - right.start)) {
    const last = merged.at(-1)
    if (last === undefined || next.start >= last.end) merged.push({ ...next })
    else {
      // Found both ways: the longer names the kind, and their union is masked.
      if (next.end - next.start > last.end - last.start) last.kind = next.kind
      last.end = Math.max(last.end, next.end)
    }
  }
  return merged
}

const base64 = /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,8000}={0,2}(?![A-Za-z0-9+/=_-])/g
const [base64Characters, minBase64] = [charactersOf(/[A-Za-z0-9+/_-]/), 24]
const maxEncoded = 50

/** Base64 passages that decode to an identifier. The whole passage counts. */
function findEncoded(text: string): Identifier[] {
  if (!hasRun(text, base64Characters, minBase64)) return []
  return findMatches(text, base64, maxEncoded).flatMap(({ 0: passage, index }) => {
    const decoded = Buffer.from(passage, 'base64').toString('utf8')
    // Digests and pictures decode to noise.
    if (!/^[\x20-\x7e\s\p{L}\p{M}]+$/u.test(decoded)) return []
    const [first] = findPlain(decoded)
    return first === undefined ? [] : [{ kind: first.kind, start: index, end: index + passage.length }]
  })
}

function findPlain(text: string): Identifier[] {
  const kept: Identifier[] = []
  let taken: Uint8Array | undefined
  for (const find of finders) {
    for (const identifier of find(text)) {
      const { start, end } = identifier
      // Allocated on the first match; most texts have none.
      taken ??= new Uint8Array(text.length)
      if (taken.subarray(start, end).includes(1)) continue
      taken.fill(1, start, end)
      kept.push(identifier)
    }
  }
  return kept
}

/** Keeps enough to recognise it: a card's last four digits, an e-mail's first letter and domain. */
export function maskIdentifier(kind: IdentifierKind, value: string): string {
  if (kind === 'email_address') return `${value.charAt(0)}•••${value.slice(value.indexOf('@'))}`
  // Of a short password, four characters would be half.
  if (kind === 'secret') return value.length < 12 ? '•••' : `${value.slice(0, 4)}•••`
  const symbols = value.replace(/[^\p{L}\p{N}]/gu, '')
  const shown = symbols.length >= 12 ? 4 : 2
  return `•••${symbols.slice(-shown)}`
}

/** The text with all identifiers masked. `field`: see findIdentifiers. */
export function maskIdentifiers(text: string, field = ''): string {
  let masked = ''
  let from = 0
  for (const { kind, start, end } of findIdentifiers(text, field)) {
    masked += text.slice(from, start) + maskIdentifier(kind, text.slice(start, end))
    from = end
  }
  return masked + text.slice(from)
}
