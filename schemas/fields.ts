import { z } from 'zod'
import { idPrefixes, isId, type IdKind } from './ids.ts'

/** Postgres text takes neither NUL nor invalid Unicode, so both are refused at the entrance. */
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
