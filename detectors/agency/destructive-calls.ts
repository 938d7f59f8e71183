import { parseJson } from '#capture/json.ts'
import { labelling } from '../along-names.ts'
import { stringsOf, type PlacedString } from '../strings-of.ts'
import { findDestructive, findInQuery, type Destructive } from './destructive-arguments.ts'
import { commandListsOf } from '../command-lists.ts'
import { meaningOf } from './meaning-of.ts'
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
  return meaning === 'query' ? findInQuery(text) : findDestructive(text)
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
