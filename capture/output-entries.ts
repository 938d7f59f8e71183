import { fieldAt, listOf, textOf } from './json.ts'

/** What stands in `outputs`: entries of Mistral's conversations, and of Google's interactions before they had steps. */
export function outputEntries(responseBody: unknown): readonly unknown[] {
  return listOf(fieldAt(responseBody, 'outputs'))
}

/** The words of those that the model said. */
export function saidInOutputs(responseBody: unknown): unknown[] {
  return outputEntries(responseBody)
    .filter((entry) => [undefined, 'message.output', 'text'].includes(textOf(fieldAt(entry, 'type'))))
    .map((entry) => fieldAt(entry, 'content') ?? entry)
}

/** Whether it is one of what the model or its host does with a tool. */
export function isToolEntry(entry: unknown): boolean {
  const type = fieldAt(entry, 'type')
  return type === 'function.call' || type === 'tool.execution'
}
