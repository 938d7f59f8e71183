import { passingMedia, type PassingMedia } from './describe-media.ts'

/** Limits what a form's fields may hold in memory; false: no more. */
export type AcquireBytes = (byteLength: number) => boolean

const lineBreak = Buffer.from('\r\n')
const emptyLine = Buffer.from('\r\n\r\n')
const dashes = Buffer.from('--')
const maxHeaderBytes = 16 * 1024
const maxParts = 1_000
/** What a part takes besides its text. */
const partOverheadBytes = 512

/** The boundary of a `multipart/form-data` body; undefined for other content types. */
export function boundaryOf(contentType: string): string | undefined {
  if (!/^multipart\/form-data\s*;/i.test(contentType)) return undefined
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? []
  return quoted ?? plain
}

interface Part {
  name: string
  media: PassingMedia | undefined
  /** Of a field. */
  chunks: Buffer[]
}

/**
 * Reads a form (RFC 7578) as it passes: fields with their text, files as what they are. Nothing but the
 * fields is held.
 */
export class FormReader {
  readonly #delimiter: Buffer
  readonly #acquire: AcquireBytes
  /** As if the body began with a line break, which precedes every delimiter but the first. */
  #pending: Buffer = Buffer.from(lineBreak)
  #state: 'preamble' | 'after delimiter' | 'headers' | 'body' | 'end' = 'preamble'
  #part: Part | undefined
  readonly #parts: Part[] = []
  #isCut = false

  constructor(boundary: string, acquire: AcquireBytes) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#acquire = acquire
  }

  push(chunk: Buffer): void {
    if (this.#state === 'end') return
    this.#pending = Buffer.concat([this.#pending, chunk])
    while (this.#step());
  }

  /** The form as JSON: a field that comes more than once is a list. */
  json(): Buffer {
    const fields = Map.groupBy(this.#parts, ({ name }) => name)
    const entries = [...fields].map(([name, parts]): [string, unknown] => {
      const values = parts.map(valueOf)
      return [name, values.length === 1 ? values[0] : values]
    })
    const isWhole = this.#state === 'end' && !this.#isCut
    return Buffer.from(
      JSON.stringify({ ...Object.fromEntries(entries), ...(isWhole ? {} : { truncated: true }) }),
    )
  }

  /** Returns whether there may be more to do. */
  #step(): boolean {
    if (this.#state === 'after delimiter') return this.#readDelimiter()
    if (this.#state === 'headers') return this.#readHeaders()
    if (this.#state === 'end') return false
    const at = this.#pending.indexOf(this.#delimiter)
    // The delimiter may have begun.
    const passing = at === -1 ? Math.max(0, this.#pending.length - this.#delimiter.length) : at
    if (passing > 0) this.#take(this.#pending.subarray(0, passing))
    this.#pending = this.#pending.subarray(at === -1 ? passing : at + this.#delimiter.length)
    if (at === -1) return false
    this.#part = undefined
    this.#state = 'after delimiter'
    return true
  }

  #readDelimiter(): boolean {
    if (this.#pending.length < dashes.length) return false
    const end = this.#pending.indexOf(lineBreak)
    if (this.#pending.subarray(0, dashes.length).equals(dashes)) this.#state = 'end'
    else if (end !== -1) {
      // The headers' first line break is left, as a part may have no headers.
      this.#pending = this.#pending.subarray(end)
      this.#state = 'headers'
    } else if (this.#pending.length > maxHeaderBytes) this.#giveUp()
    else return false
    return true
  }

  #readHeaders(): boolean {
    const end = this.#pending.indexOf(emptyLine)
    if (end === -1 || this.#parts.length >= maxParts) {
      if (end !== -1 || this.#pending.length > maxHeaderBytes) this.#giveUp()
      return false
    }
    this.#part = this.#begin(this.#pending.toString('utf8', 0, end))
    this.#pending = this.#pending.subarray(end + emptyLine.length)
    this.#state = 'body'
    return true
  }

  #begin(headers: string): Part {
    const disposition = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? ''
    const type = /^content-type:\s*([^\s;]+)/im.exec(headers)?.[1]?.toLowerCase() ?? null
    const filename = parameterOf(disposition, 'filename')
    const isFile = filename !== undefined || (type !== null && !type.startsWith('text/'))
    const name = parameterOf(disposition, 'name') ?? ''
    const part = { name, media: isFile ? passingMedia(type, filename) : undefined, chunks: [] }
    if (this.#acquire(partOverheadBytes + headers.length)) this.#parts.push(part)
    else this.#isCut = true
    return part
  }

  #take(bytes: Buffer): void {
    if (this.#part === undefined) return
    if (this.#part.media !== undefined) this.#part.media.add(bytes)
    else if (this.#acquire(bytes.length + partOverheadBytes)) this.#part.chunks.push(Buffer.from(bytes))
    else this.#isCut = true
  }

  #giveUp(): void {
    this.#isCut = true
    this.#state = 'end'
    this.#pending = Buffer.alloc(0)
  }
}

function valueOf({ media, chunks }: Part): unknown {
  return media === undefined ? Buffer.concat(chunks).toString('utf8') : media.part()
}

function parameterOf(disposition: string, name: string): string | undefined {
  return new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, 'i')
    .exec(disposition)?.[1]
    ?.replaceAll(/\\(.)/g, '$1')
}
