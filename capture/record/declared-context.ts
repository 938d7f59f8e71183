import { z } from 'zod'
import { objectOf, type JsonObject } from '../json.ts'

/**
 * Member of a record's metadata that holds the places of declared context: it travels and is stored with the
 * record, so replays read the same (decision 0096).
 */
const contextMember = 'sluice.context'
const maxContextBytes = 2_048
const maxPlaces = 100

/** The position of a message, from 0. */
const messageIndex = /^(?:0|[1-9]\d{0,4})$/
/** A JSON pointer (RFC 6901) to anything but the whole body. */
const pointer = /^\/(?:[^~]|~[01])*$/
const isPlace = (text: string) => messageIndex.test(text) || pointer.test(text)
const isShort = (places: readonly string[]) => Buffer.byteLength(places.join()) <= maxContextBytes

/** Where a request holds what was retrieved: message indexes and JSON pointers. Null: not declared. */
export const contextField = z
  .array(z.union([z.number(), z.string()]).transform(String), 'must be a list')
  .max(maxPlaces)
  .refine(isShort, `must have ${maxContextBytes} bytes at most`)
  .refine(
    (places) => places.every(isPlace),
    'must be message indexes from 0 and JSON pointers that start with /',
  )
  .nullish()
  .transform((places) => (places === undefined || places?.length === 0 ? null : places))
  .describe(
    'Where request_body holds retrieved text that is not marked as such: message indexes and JSON pointers. Stored in metadata as `sluice.context`.',
  )

/** Reads a header: places with commas between them. Undefined if it is not valid. */
export function readContextHeader(text: string): string[] | undefined {
  const places = text.split(',').map((place) => place.trim())
  return contextField.safeParse(places).data ?? undefined
}

/** Metadata with the places added. */
export function withDeclaredContext(metadata: JsonObject | null, places: readonly string[] | null) {
  return places === null ? metadata : { ...metadata, [contextMember]: places }
}

/**
 * The places that metadata, as JSON text, declares. None for what an application wrote under this name in
 * another form: a verdict must not fail for it.
 */
export function declaredContext(metadata: string | null | undefined): readonly string[] {
  if (metadata?.includes(`"${contextMember}"`) !== true) return []
  const places = objectOf(JSON.parse(metadata))?.[contextMember]
  return contextField.safeParse(places).data ?? []
}

/** Members that hold the messages of a request, by format. */
const messageLists = ['messages', 'input', 'contents']

/** Whether a JSON pointer into the request is at or below one of the places. */
export function isDeclared(at: string, places: readonly string[]): boolean {
  return places.some((place) => {
    const starts = place.startsWith('/') ? [place] : messageLists.map((list) => `/${list}/${place}`)
    return starts.some((start) => at === start || at.startsWith(`${start}/`))
  })
}
