import { fieldAt, listOf, textOf } from './json.ts'

/** What stands in `outputs`: entries of Mistral's conversations, and of Google's interactions before they had steps. */
export function outputEntries(responseBody: unknown): readonly unknown[] {
  return listOf(fieldAt(responseBody, 'outputs'))
}

const saidTypes: readonly unknown[] = [undefined, 'message.output', 'text']

/** The words of those that the model said. */
export function saidInOutputs(responseBody: unknown): unknown[] {
  return outputEntries(responseBody)
    .filter((entry) => saidTypes.includes(textOf(fieldAt(entry, 'type'))))
    .map((entry) => fieldAt(entry, 'content') ?? entry)
}

/** Whether it is one of what the model or its host does with a tool. */
export function isToolEntry(entry: unknown): boolean {
  const type = fieldAt(entry, 'type')
  return type === 'function.call' || type === 'tool.execution'
}

/** Whether it is one whose words are read, or that has none. Hosts of other formats have `outputs` too. */
export function isKnownEntry(entry: unknown): boolean {
  const type = textOf(fieldAt(entry, 'type'))
  if (type === undefined) return false
  return saidTypes.includes(type) || (fieldAt(entry, 'text') ?? fieldAt(entry, 'content')) === undefined
}
