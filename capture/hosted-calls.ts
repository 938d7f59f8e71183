import { objectOf, textOf } from './json.ts'

/** Calls executed by the provider: OpenRouter's items, Groq's `executed_tools`, Gemini's parts. */

/** Arguments of OpenRouter's items. Other members are results, or metadata. */
const openRouterArguments: ReadonlySet<string> = new Set([
  ...['arguments', 'input', 'action', 'actions', 'code', 'command', 'commands', 'language', 'operation'],
  ...['query', 'queries', 'url', 'filePath', 'key', 'value', 'prompt', 'task_name', 'task_description'],
])
const openRouterMetadata: ReadonlySet<string> = new Set([
  ...['type', 'id', 'call_id', 'status', 'model', 'name', 'toolName', 'serverLabel', 'instance_name'],
  ...['imageB64', 'imageUrl', 'screenshotB64', 'revisedPrompt', 'exitCode', 'httpStatus'],
])

export function isOpenRouterType(type: unknown): boolean {
  return textOf(type)?.startsWith('openrouter:') === true
}

/** Members of an OpenRouter item that are arguments. */
export function argumentNamesOf(item: unknown): string[] {
  return Object.entries(objectOf(item) ?? {})
    .filter(([name, value]) => openRouterArguments.has(name) && value !== null)
    .map(([name]) => name)
}

export function isResultName(name: string): boolean {
  return !openRouterArguments.has(name) && !openRouterMetadata.has(name)
}

/** Name for Gemini's code execution, which has none in the answer. */
export const codeExecution = 'code_execution'
