import { isReadable } from '../words-in-base64.ts'
import { passingMedia, type PassingMedia } from './describe-media.ts'

const [quote, backslash, slash] = [0x22, 0x5c, 0x2f]
/** Shorter strings pass as they are. */
const minChars = 1_024
const prefix = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.-]+)*;base64,/
const mayBePrefix = /^(?:d|da|dat|data|data:[\w.+\-/;=,]{0,128})$/
const letters = new Uint8Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=')
  letters[char.charCodeAt(0)] = 1
const isLetter = (byte: number) => letters[byte] === 1

type State = 'outside' | 'held' | 'words' | 'media'

/**
 * Replaces long strings of base64 in JSON as it passes, or in an event stream of JSON, by what they are. What
 * looks like base64 and reads as text stays: it may be words. What follows base64 in a string stays as words.
 */
export class Base64Filter {
  #state: State = 'outside'
  #isEscaped = false
  /** The beginning of a string that may be media. */
  #held: number[] = []
  #media: PassingMedia | undefined
  /** Base64 that is no whole group yet. */
  #rest = ''
  /** Whether the string became a list of media and words. */
  #isListed = false

  /** What of the chunk is kept. */
  push(chunk: Buffer): Buffer {
    const kept: Buffer[] = []
    for (let at = 0; at < chunk.length;) {
      if (this.#state === 'outside') at = this.#passOutside(chunk, at, kept)
      else if (this.#state === 'words') at = this.#passWords(chunk, at, kept)
      else if (this.#state === 'held') at = this.#hold(chunk, at, kept)
      else at = this.#readMedia(chunk, at, kept)
    }
    return Buffer.concat(kept)
  }

  /** What is left when the body ends, perhaps within a string. */
  end(): Buffer {
    if (this.#state === 'held') return Buffer.from([quote, ...this.#held])
    return this.#state === 'media' ? this.#described() : Buffer.alloc(0)
  }

  #passOutside(chunk: Buffer, at: number, kept: Buffer[]): number {
    const start = chunk.indexOf(quote, at)
    kept.push(chunk.subarray(at, start === -1 ? chunk.length : start))
    if (start === -1) return chunk.length
    this.#state = 'held'
    this.#held = []
    return start + 1
  }

  #passWords(chunk: Buffer, from: number, kept: Buffer[]): number {
    let at = from
    for (; at < chunk.length; at++) {
      const byte = chunk[at]
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === backslash) this.#isEscaped = true
      else if (byte === quote) {
        this.#state = 'outside'
        at++
        break
      }
    }
    kept.push(chunk.subarray(from, at))
    if (this.#state === 'outside' && this.#isListed) kept.push(Buffer.from(']'))
    if (this.#state === 'outside') this.#isListed = false
    return at
  }

  #hold(chunk: Buffer, from: number, kept: Buffer[]): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0
      if (!isLetter(byte) && !mayBePrefix.test(this.#text() + String.fromCharCode(byte))) {
        this.#release(kept)
        return at
      }
      this.#held.push(byte)
      if (this.#held.length === minChars) {
        this.#decide(kept)
        return at + 1
      }
    }
    return chunk.length
  }

  /** Of at most a prefix's length: longer texts are base64 already. */
  #text(): string {
    return this.#held.length > 140 ? '' : String.fromCharCode(...this.#held)
  }

  #release(kept: Buffer[]): void {
    kept.push(Buffer.from([quote, ...this.#held]))
    this.#state = 'words'
  }

  #decide(kept: Buffer[]): void {
    const text = Buffer.from(this.#held).toString('latin1')
    const found = prefix.exec(text)
    const encoded = found === null ? text : text.slice(found[0].length)
    if (isReadable(encoded)) {
      this.#release(kept)
      return
    }
    this.#media = passingMedia(found?.[1] ?? null)
    this.#rest = ''
    this.#decode(encoded)
    this.#state = 'media'
  }

  #readMedia(chunk: Buffer, from: number, kept: Buffer[]): number {
    let at = from
    while (at < chunk.length && isLetter(chunk[at] ?? 0)) at++
    this.#decode(chunk.toString('latin1', from, at))
    if (at === chunk.length) return at
    const next = chunk[at]
    // Some JSON writers escape the slash: the letter that follows is read as one.
    if (next === backslash && (chunk[at + 1] ?? slash) === slash) return at + 1
    if (next === quote) {
      kept.push(this.#described())
      this.#state = 'outside'
      return at + 1
    }
    kept.push(Buffer.from('['), this.#described(), Buffer.from(',"'))
    this.#state = 'words'
    this.#isListed = true
    return at
  }

  #decode(letters: string): void {
    const text = this.#rest + letters
    const whole = text.length - (text.length % 4)
    this.#media?.add(Buffer.from(text.slice(0, whole), 'base64'))
    this.#rest = text.slice(whole)
  }

  #described(): Buffer {
    if (this.#rest !== '') this.#media?.add(Buffer.from(this.#rest, 'base64'))
    return Buffer.from(JSON.stringify(this.#media?.part()))
  }
}
