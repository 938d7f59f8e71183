/** For 8 times the input, linear work reads 8 times as much, quadratic work 64 times. */
const growth = 8
const maxTimes = 10

interface PatternReader {
  exec: (this: RegExp, text: string) => RegExpExecArray | null
}

type Search<Found> = (this: string, searched: string, from?: number) => Found
interface TextReaders {
  indexOf: Search<number>
  includes: Search<boolean>
  charCodeAt: (this: string, at: number) => number
  charAt: (this: string, at: number) => string
}

/**
 * Characters that patterns, searches and loops read during `work`: for a pattern or search, from its start to
 * its match or the end. Excludes backtracking, so the count is the same on every machine.
 */
export function charactersRead(work: () => unknown): number {
  let count = 0
  const { exec } = RegExp.prototype as PatternReader
  const { indexOf, includes, charCodeAt, charAt } = String.prototype as TextReaders
  const add = (text: string, from: number, end: number) => {
    count += 1 + Math.max(0, (end === -1 ? text.length : end) - from)
  }
  RegExp.prototype.exec = function (this: RegExp, text: string) {
    const from = this.global || this.sticky ? this.lastIndex : 0
    const found = exec.call(this, text)
    // A sticky pattern looks at one position only.
    add(text, from, found === null ? (this.sticky ? from : -1) : found.index + found[0].length)
    return found
  }
  String.prototype.indexOf = function (this: string, searched, from = 0) {
    const found = indexOf.call(this, searched, from)
    add(this, from, found)
    return found
  }
  String.prototype.includes = function (this: string, searched, from = 0) {
    add(this, from, indexOf.call(this, searched, from))
    return includes.call(this, searched, from)
  }
  String.prototype.charCodeAt = function (this: string, at) {
    count += 1
    return charCodeAt.call(this, at)
  }
  String.prototype.charAt = function (this: string, at) {
    count += 1
    return charAt.call(this, at)
  }
  try {
    work()
  } finally {
    Object.assign(RegExp.prototype, { exec })
    Object.assign(String.prototype, { indexOf, includes, charCodeAt, charAt })
  }
  return count
}

/**
 * The units that, repeated to `length` characters, make `work` read more than in proportion to the length.
 * Throws if it does not read the text at all.
 */
export function unitsReadTooOften(
  units: readonly string[],
  length: number,
  work: (text: string) => unknown,
): string[] {
  const readOf = (unit: string, size: number) => {
    const text = unit.repeat(Math.floor(size / unit.length))
    const count = charactersRead(() => work(text))
    if (count < text.length) throw new Error(`only ${count} of ${text.length} characters are read`)
    return count
  }
  return units.filter((unit) => readOf(unit, length) > maxTimes * readOf(unit, length / growth))
}
