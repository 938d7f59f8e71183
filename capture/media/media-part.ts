import { objectOf, type JsonObject } from '../json.ts'

/** What a record holds in the place of sound, pictures, video or another file. */
export interface MediaPart {
  media: MediaKind
  media_type: string | null
  bytes: number
  /** In hexadecimal. */
  sha256: string
  filename?: string
}

export type MediaKind = 'image' | 'audio' | 'video' | 'file'

const names: ReadonlySet<string> = new Set(['media', 'media_type', 'bytes', 'sha256', 'filename'])
const kinds: ReadonlySet<unknown> = new Set(['image', 'audio', 'video', 'file'])
const hash = /^[0-9a-f]{64}$/

/** Whether a value stands for media. Its strings are no words, except the file's name. */
export function isMediaPart(value: unknown): value is JsonObject & MediaPart {
  const object = objectOf(value)
  if (object === undefined || !kinds.has(object['media']) || typeof object['sha256'] !== 'string')
    return false
  return hash.test(object['sha256']) && Object.keys(object).every((name) => names.has(name))
}

export function kindOfMedia(type: string | null): MediaKind {
  const [main] = type?.split('/', 1) ?? []
  return main === 'image' || main === 'audio' || main === 'video' ? main : 'file'
}

const beginnings: readonly (readonly [at: number, text: string, type: string])[] = [
  [0, '\u0089PNG', 'image/png'],
  [0, '\u00ff\u00d8\u00ff', 'image/jpeg'],
  [0, 'GIF8', 'image/gif'],
  [8, 'WEBP', 'image/webp'],
  [8, 'WAVE', 'audio/wav'],
  [0, 'ID3', 'audio/mpeg'],
  [0, '\u00ff\u00fb', 'audio/mpeg'],
  [0, '\u00ff\u00f3', 'audio/mpeg'],
  [0, 'OggS', 'audio/ogg'],
  [0, 'fLaC', 'audio/flac'],
  [4, 'ftyp', 'video/mp4'],
  [0, '%PDF', 'application/pdf'],
]

/** Bytes that `typeOfBytes` looks at. */
const lookBytes = 16

/** The media type by the first bytes; null if they say nothing. */
export function typeOfBytes(beginning: Buffer): string | null {
  const text = beginning.toString('latin1', 0, lookBytes)
  return beginnings.find(([at, its]) => text.startsWith(its, at))?.[2] ?? null
}
