import {
  codeDestructions,
  commandDestructions,
  queryDestructions,
  type Destruction,
  type Destructive,
} from './destructions.ts'
import { executedSql, executedText, isStatement } from './executed-text.ts'
import { findOverreach } from './find-overreach.ts'
import { findMatches } from '../find-matches.ts'
import { findGated } from '../gate/gated-pattern.ts'
import { wordStartsOf } from '../gate/word-starts.ts'

const maxHits = 20
const decodes = /\bbase64\s+(?:-d|-D|--decode)\b|\bfrombase64string\b|\s-e(?:nc?|ncodedcommand)?\s/i
const base64 = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{12,8000}={0,2}(?![A-Za-z0-9+/=])/g

/** Destructive statements in a query. None in a search in plain words. */
export function findInQuery(text: string): Destructive[] {
  return isStatement(text) ? hitsOf(queryDestructions, executedSql(text)) : []
}

/** Destructive commands, code and queries in a tool's arguments, and other overreach. */
export function findDestructive(text: string): Destructive[] {
  const command = executedText(text)
  return [
    ...hitsOf(commandDestructions, command),
    ...hitsOf(codeDestructions, command),
    ...hitsOf(queryDestructions, executedSql(command)),
    ...(decodes.test(command) ? findEncoded(command) : []),
    ...findOverreach(text),
  ]
}

function hitsOf(destructions: readonly Destruction[], text: string): Destructive[] {
  const starts = wordStartsOf(text)
  return destructions.flatMap(({ kind, value, pattern }) =>
    findGated(text, starts, pattern, maxHits)
      .map((match) => ({
        kind,
        value: typeof value === 'number' ? value : value(match[0]),
        start: match.index,
        end: match.index + match[0].trimEnd().length,
      }))
      .filter((found) => found.value > 0),
  )
}

/** What a command decodes before running it, placed at the encoded text. PowerShell uses UTF-16. */
function findEncoded(text: string): Destructive[] {
  return findMatches(text, base64, maxHits).flatMap(({ 0: passage, index }) => {
    const bytes = Buffer.from(passage, 'base64')
    const decoded = bytes.includes(0) ? bytes.toString('utf16le') : bytes.toString('utf8')
    return hitsOf([...commandDestructions, ...queryDestructions], decoded)
      .slice(0, 1)
      .map(({ kind, value }) => ({ kind, value, start: index, end: index + passage.length }))
  })
}
