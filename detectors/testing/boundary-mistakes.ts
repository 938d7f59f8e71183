/** What part of a pattern may begin and end with, as far as `\b` and non-ASCII letters matter. */
interface Piece {
  first: readonly string[]
  last: readonly string[]
  isEmpty: boolean
}

const boundary = '\\b'
const nothing: Piece = { first: [], last: [], isEmpty: true }
const unit = /\\[pP]\{[^}]*\}|\\u[\da-fA-F]{4}|\\[^]|\[(?:\\[^]|[^\]\\])*\]|[^]/uy
const groupStart = /\((?:\?(?:[:=!]|<[=!]|<\w+>))?/y
const quantifier = /(?:[?*]|\{0,\d*\}|(\+|\{\d+(?:,\d*)?\}))\??/y
const foreign = /[^\P{L}\p{ASCII}]|\\p\{L\}/u

/**
 * Places where `\b` stands beside a non-ASCII letter, as what is on either side. `\b` takes that for a
 * non-letter, so `\bé\b` only matches inside words.
 */
export function boundaryMistakes(source: string): string[] {
  const found = new Set<string>()
  let at = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const match = pattern.exec(source)
    at += match?.[0].length ?? 0
    return match
  }
  const join = (one: Piece, other: Piece): Piece => {
    for (const last of one.last)
      for (const first of other.first)
        if ((last === boundary) !== (first === boundary)) found.add(`${last}${first}`)
    return {
      first: one.isEmpty ? [...one.first, ...other.first] : one.first,
      last: other.isEmpty ? [...one.last, ...other.last] : other.last,
      isEmpty: one.isEmpty && other.isEmpty,
    }
  }
  const readUnit = (): Piece => {
    const [text = ''] = take(unit) ?? []
    if (text === boundary) return { first: [boundary], last: [boundary], isEmpty: true }
    const isForeign = foreign.test(text) && !text.startsWith('[^')
    const letters = isForeign ? [text] : []
    return { first: letters, last: letters, isEmpty: text === '^' || text === '$' || text === '\\B' }
  }
  const readPiece = (): Piece => {
    const start = take(groupStart)
    const inner = start === null ? readUnit() : readChoices()
    if (start !== null) at += 1
    // A look-around says itself what may stand there.
    const isLook = start !== null && /[=!]$/.test(start[0])
    const piece = isLook ? { ...nothing, isEmpty: !start[0].includes('<') } : inner
    const times = take(quantifier)
    return times !== null && times[1] === undefined ? { ...piece, isEmpty: true } : piece
  }
  const readSequence = (): Piece => {
    let piece = nothing
    while (at < source.length && !'|)'.includes(source.charAt(at))) piece = join(piece, readPiece())
    return piece
  }
  const readChoices = (): Piece => {
    const choices = [readSequence()]
    while (source.charAt(at) === '|') {
      at += 1
      choices.push(readSequence())
    }
    return {
      first: choices.flatMap(({ first }) => first),
      last: choices.flatMap(({ last }) => last),
      isEmpty: choices.some(({ isEmpty }) => isEmpty),
    }
  }
  readChoices()
  return [...found]
}
