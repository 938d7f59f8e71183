import { createHash } from 'node:crypto'
import { objectOf, textOf } from '#capture/json.ts'
import { kindOfMedia, typeOfBytes, type MediaPart } from '#capture/media/media-part.ts'

/** Shorter strings may be anything. */
const minChars = 256
const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/
/** Members that hold sound or pictures in base64. */
const holders: ReadonlySet<string> = new Set(['audio', 'data', 'image', 'image_url', 'image_data'])
const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)[^,]{0,256};base64,/

/**
 * A value with each media part as its kind, byte count and SHA-256. RangeError if nested beyond the stack.
 */
export function withoutMedia(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(withoutMedia)
  const object = objectOf(value)
  if (object === undefined) return value
  const given = textOf(object['mimeType'] ?? object['mime_type'])
  return Object.fromEntries(
    Object.entries(object).map(([name, inner]) => {
      const text = holders.has(name) ? textOf(inner) : undefined
      return [name, (text !== undefined && mediaIn(text, given)) || withoutMedia(inner)]
    }),
  )
}

function mediaIn(text: string, given: string | undefined): MediaPart | undefined {
  const type = dataUrl.exec(text)
  const encoded = type === null ? text : text.slice(type[0].length)
  if (encoded.length < minChars || !base64.test(encoded)) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  const mediaType = type?.[1] ?? given ?? typeOfBytes(bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { media: kindOfMedia(mediaType), media_type: mediaType, bytes: bytes.length, sha256 }
}
