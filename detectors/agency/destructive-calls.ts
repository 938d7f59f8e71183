import { parseJson } from '#capture/json.ts'
import { labelling } from '../along-names.ts'
import type { Evidence } from '../call-text.ts'
import { findMatches } from '../find-matches.ts'
import { stringsOf, type PlacedString } from '../strings-of.ts'
import type { Destructive } from './destructions.ts'
import { findDestructive, findInQuery } from './destructive-arguments.ts'
import { commandListsOf } from '../command-lists.ts'
import { meaningOf } from './meaning-of.ts'
import { findInPath } from './path-arguments.ts'
import { executedSql } from './executed-text.ts'
import type { ToolArgument } from './tool-arguments.ts'

const pieceUnits = 65_536
const maxStrings = 500

type Labelling = ReturnType<typeof labelling>

/** What a tool call destroys, per argument. */
export function findInArguments(given: readonly ToolArgument[]): (Destructive & ToolArgument)[] {
  const labelOf = labelling()
  const inLists = given.length < 2 ? [] : commandLists(given, labelOf)
  return [
    ...given.flatMap((argument) =>
      findInArgument(argument, labelOf).map((found) => ({ ...argument, ...found })),
    ),
    ...inLists.flatMap(({ first, command }) =>
      findDestructive(command).map((found) => ({ ...first, ...found, start: 0, end: first.text.length })),
    ),
  ]
}

const changesRows =
  /\b(?:delete\s+from\s+[\w."\x60[\]]{1,80}\s+where\b|update\s+[\w."\x60[\]]{1,80}\s+set\b|insert\s+into\s+[\w."\x60[\]]{1,80}\s*\(|alter\s+table\s)[^;]{0,200}/gi

/** Statements that change rows, however few. */
export function findChanges(given: readonly ToolArgument[]): Evidence[] {
  const labelOf = labelling()
  return given.flatMap((argument) => {
    const { part, pointer, tool } = argument
    const text = argument.text.slice(0, pieceUnits)
    if (!/sql|quer|database|(?<![a-z])db/i.test(`${tool} ${labelOf(argument)} ${text.slice(0, 40)}`))
      return []
    return findMatches(executedSql(text), changesRows, 5).map(({ 0: passage, index }) => ({
      part,
      pointer,
      start: index,
      end: index + passage.length,
      kind: 'changes_rows',
    }))
  })
}

/** For JSON text, checks each string by its name: a document written by a tool may mention any command. */
function findInArgument(argument: ToolArgument, labelOf: Labelling): Destructive[] {
  const { tool, text } = argument
  if (meaningOf(labelOf(argument), tool) === 'words') return []
  const read = text.slice(0, pieceUnits)
  const parsed = /^\s{0,20}[[{]/.test(read) && read.length === text.length ? parseJson(text) : undefined
  if (parsed === undefined) return findIn(read, labelOf(argument), tool)
  const strings = stringsOf(parsed, argument)
    .take(maxStrings)
    .map((inner) => ({ tool, ...inner }))
    .toArray()
  return [
    ...strings.flatMap((inner) =>
      findIn(inner.text, labelOf(inner), tool).map((found) => placeIn(text, inner.text, found)),
    ),
    ...commandLists(strings, labelOf).flatMap(({ first, command }) =>
      findDestructive(command).map((found) =>
        placeIn(text, first.text, { ...found, start: 0, end: first.text.length }),
      ),
    ),
  ]
}

function findIn(text: string, label: string, tool: string): Destructive[] {
  const meaning = meaningOf(label, tool)
  if (meaning === 'words') return []
  if (meaning === 'query') return findInQuery(text)
  const inPath = findInPath(text, label, tool)
  return inPath.length > 0 ? inPath : findDestructive(text)
}

/** Programs may be started by a list: `["rm", "-rf", "/data"]` is one command, placed at its first word. */
function commandLists<T extends PlacedString & { tool: string }>(
  strings: readonly T[],
  labelOf: Labelling,
): { first: T; command: string }[] {
  return commandListsOf(strings)
    .filter(({ words: [first] }) => meaningOf(labelOf(first), first.tool) !== 'words')
    .map(({ words: [first, ...rest] }) => ({
      first,
      command: [first.text, ...rest.map(({ text }) => text.slice(0, 1_000))].join(' '),
    }))
}

/** The place in the JSON text of a match in one of its strings; all of it if it is escaped differently. */
function placeIn(json: string, inner: string, found: Destructive): Destructive {
  const unitsOf = (string: string) => JSON.stringify(string).length - 2
  const at = json.indexOf(JSON.stringify(inner).slice(1, -1))
  if (at === -1) return { ...found, start: 0, end: json.length }
  return {
    ...found,
    start: at + unitsOf(inner.slice(0, found.start)),
    end: at + unitsOf(inner.slice(0, found.end)),
  }
}
