/**
 * What a pattern needs in a text: from each list, at least one word prefix. Words are `\w`, case-insensitive;
 * `beyondAscii` stands for any non-ASCII character.
 */
export type NeededStarts = readonly (readonly string[])[]

export const beyondAscii = '\u0080'
/** Length up to which prefixes are compared. */
export const maxUnits = 5

/** What a part of a pattern needs, and whether a word after it begins there. */
interface Reading {
  needs: readonly (readonly string[])[]
  atStart: boolean
}

/** Syntax that would be misread: named back-references and groups that change flags. */
const unknownSyntax = /\\[kc]|\(\?(?![:=!]|<[=!]|<\w+>)/
const groupStart = /\((?:\?(?::|<?[=!]|<\w+>))?/y
const unitOf = /\[(?:\\[^]|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\[^]|[^]/iy
const quantifierOf = /(?:([?*])|\+|\{(\d+)(?:,\d*)?\})\??/y
const literalBeyondAscii = /^[^\0-\x7f]$/
/** A word begins after these. */
const betweenWords = /^(?:\\[bWsn]|\^|\\[^\w]|[^\w\\[.])$/

/**
 * Derived from the pattern's source, so that the two cannot differ: one prefix for each alternative that
 * follows `\b`, a blank or `\W+`. Anything not understood is not required. Empty: may match any text.
 */
export function neededStarts({ source, flags }: RegExp): NeededStarts {
  // With both flags, non-ASCII letters match "s" and "k".
  const isCovered = !(flags.includes('u') && flags.includes('i')) && !unknownSyntax.test(source)
  return isCovered ? readChoices({ source, at: 0 }, false).needs : []
}

interface Cursor {
  readonly source: string
  at: number
}

/** Reads up to the end of the group. What every alternative needs becomes a list of one prefix each. */
function readChoices(cursor: Cursor, atStart: boolean): Reading {
  const choices = [readSequence(cursor, atStart)]
  while (cursor.source[cursor.at] === '|') {
    cursor.at += 1
    choices.push(readSequence(cursor, atStart))
  }
  const [only] = choices
  if (only !== undefined && choices.length === 1) return only
  const shortest = choices.map(({ needs }) => needs.toSorted((a, b) => a.length - b.length)[0] ?? [])
  return {
    needs: shortest.every((words) => words.length > 0) ? [[...new Set(shortest.flat())]] : [],
    atStart: choices.every((choice) => choice.atStart),
  }
}

function readSequence(cursor: Cursor, atStart: boolean): Reading {
  const needs: (readonly string[])[] = []
  let isStart = atStart
  while (cursor.at < cursor.source.length && !'|)'.includes(cursor.source.charAt(cursor.at))) {
    const read = readWord(cursor, isStart) ?? readPiece(cursor, isStart)
    needs.push(...read.needs)
    isStart = read.atStart
  }
  return { needs, atStart: isStart }
}

/** Literal letters, except a last one that may be repeated or absent. */
function readWord(cursor: Cursor, atStart: boolean): Reading | null {
  const [letters = ''] = /^\w+/.exec(cursor.source.slice(cursor.at)) ?? []
  const isLastRepeated = /[?*+{]/.test(cursor.source.charAt(cursor.at + letters.length))
  const word = isLastRepeated ? letters.slice(0, -1) : letters
  if (word === '') return null
  cursor.at += word.length
  return { needs: atStart ? [[word.toLowerCase().slice(0, maxUnits)]] : [], atStart: false }
}

/** Anything else, with its quantifier. */
function readPiece(cursor: Cursor, atStart: boolean): Reading {
  const read = readGroup(cursor, atStart) ?? readUnit(cursor, atStart)
  const quantifier = take(cursor, quantifierOf)
  const isOptional = quantifier !== null && (quantifier[1] !== undefined || quantifier[2] === '0')
  return isOptional ? { needs: [], atStart: read.atStart && atStart } : read
}

function readGroup(cursor: Cursor, atStart: boolean): Reading | null {
  const start = take(cursor, groupStart)
  if (start === null) return null
  const isLook = /[=!]$/.test(start[0])
  const read = readChoices(cursor, !isLook && atStart)
  cursor.at += 1
  return isLook ? { needs: [], atStart } : read
}

function readUnit(cursor: Cursor, atStart: boolean): Reading {
  const [unit = ''] = take(cursor, unitOf) ?? []
  return {
    needs: literalBeyondAscii.test(unit) ? [[beyondAscii]] : [],
    atStart: unit === '$' ? atStart : betweenWords.test(unit),
  }
}

function take(cursor: Cursor, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = cursor.at
  const match = pattern.exec(cursor.source)
  if (match !== null) cursor.at += match[0].length
  return match
}
