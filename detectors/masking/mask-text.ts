import type { MaskedPlace } from '#schemas/masked-value.ts'
import { piecesOf } from '../call-text.ts'
import { findIdentifiers } from '../pii/detect-pii.ts'
import type { Identifier, IdentifierKind } from '../pii/identifier.ts'
import { findPlaceholders, type PlaceholderOf } from './placeholder.ts'

/** Counts what is masked, by kind and place. */
export type CountMasked = (kind: IdentifierKind, place: MaskedPlace) => void

/** What masks the values of one place. */
export interface Masker {
  place: MaskedPlace
  placeholderOf: PlaceholderOf
  count: CountMasked
}

/** What detectors find in a text. `field`: the words of its name, where it is short enough to have any. */
export function findMaskable(text: string, field = ''): Identifier[] {
  const found = Array.from(piecesOf({ text, offset: 0 })).flatMap(({ text: piece, offset }) =>
    findIdentifiers(piece, field).map(({ kind, start, end }) => ({
      kind,
      start: start + offset,
      end: end + offset,
    })),
  )
  return found.length === 0 ? found : withoutPlaceholders(text, found)
}

/** A placeholder that stands there already is never masked again. */
function withoutPlaceholders(text: string, found: Identifier[]): Identifier[] {
  const made = findPlaceholders(text)
  if (made.length === 0) return found
  return found.filter(({ start, end }) => !made.some((one) => start >= one.start && end <= one.end))
}

/** The text with placeholders in place of what was found. Overlapping finds are one value. */
export function replaceFound(text: string, found: readonly Identifier[], masker: Masker): string {
  let masked = ''
  let from = 0
  for (const { kind, start, end } of united(found)) {
    masked += text.slice(from, start) + masker.placeholderOf(kind, text.slice(start, end))
    masker.count(kind, masker.place)
    from = end
  }
  return masked + text.slice(from)
}

function united(found: readonly Identifier[]): Identifier[] {
  const merged: Identifier[] = []
  for (const next of found.toSorted((left, right) => left.start - right.start)) {
    const last = merged.at(-1)
    if (last === undefined || next.start >= last.end) merged.push({ ...next })
    else last.end = Math.max(last.end, next.end)
  }
  return merged
}
