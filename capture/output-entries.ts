import { fieldAt, listOf, textOf } from './json.ts'

/** Entries of `outputs`: Mistral's conversations, and Google's older interactions without steps. */
export function outputEntries(responseBody: unknown): readonly unknown[] {
  return listOf(fieldAt(responseBody, 'outputs'))
}

const saidTypes: readonly unknown[] = [undefined, 'message.output', 'text']

/** The content of entries written by the model. */
export function saidInOutputs(responseBody: unknown): unknown[] {
  return outputEntries(responseBody)
    .filter((entry) => saidTypes.includes(textOf(fieldAt(entry, 'type'))))
    .map((entry) => fieldAt(entry, 'content') ?? entry)
}

/** Whether an entry is a tool call or its execution. */
export function isToolEntry(entry: unknown): boolean {
  const type = fieldAt(entry, 'type')
  return type === 'function.call' || type === 'tool.execution'
}

/** Whether an entry's text is read, or it has none. Other formats have `outputs` too. */
export function isKnownEntry(entry: unknown): boolean {
  const type = textOf(fieldAt(entry, 'type'))
  if (type === undefined) return false
  return saidTypes.includes(type) || (fieldAt(entry, 'text') ?? fieldAt(entry, 'content')) === undefined
}
