import { z } from 'zod'
import { idPrefixes, isId, type IdKind } from '#schemas/ids.ts'

/** Postgres text takes neither NUL nor what is not Unicode, so both are refused where they come in. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

/** Text that can be stored, of 1 to `maxLength` UTF-16 units. */
export function textField(maxLength: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .refine(isStorableText, 'must be Unicode text without NUL characters or lone surrogates')
}

/** An identifier of `kind`. */
export function idField(kind: IdKind): z.ZodString {
  return z
    .string()
    .refine(
      (value) => isId(kind, value),
      `must be an identifier like ${idPrefixes[kind]}_01h455vb4pex5vsknk084sn02q`,
    )
    .meta({ examples: [`${idPrefixes[kind]}_01h455vb4pex5vsknk084sn02q`] })
}

const timestampPattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/** An ISO 8601 date (its start in UTC) or timestamp with a zone, as Unix milliseconds. */
export const timeField = z
  .string()
  .refine(
    (value) => timestampPattern.test(value) && !Number.isNaN(Date.parse(value)),
    'must be an ISO 8601 date or a timestamp with a zone, like 2026-11-21T09:30:00Z',
  )
  .transform((value) => Date.parse(value))
