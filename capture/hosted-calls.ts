import { objectOf, textOf } from './json.ts'

/** Calls that a provider carries out itself, in shapes of their own: OpenRouter's items, Groq's `executed_tools`, Gemini's parts. */

/** What its items are called with. Whatever else is in one is what came of it, or says nothing. */
const givenToOpenRouter: ReadonlySet<string> = new Set([
  ...['arguments', 'input', 'action', 'actions', 'code', 'command', 'commands', 'language', 'operation'],
  ...['query', 'queries', 'url', 'filePath', 'key', 'value', 'prompt', 'task_name', 'task_description'],
])
const saysNothing: ReadonlySet<string> = new Set([
  ...['type', 'id', 'call_id', 'status', 'model', 'name', 'toolName', 'serverLabel', 'instance_name'],
  ...['imageB64', 'imageUrl', 'screenshotB64', 'revisedPrompt', 'exitCode', 'httpStatus'],
])

/** `openrouter:bash` and all the others. */
export function isOpenRouterType(type: unknown): boolean {
  return textOf(type)?.startsWith('openrouter:') === true
}

/** The members of such an item that hold what its tool is to do. */
export function givenNamesOf(item: unknown): string[] {
  return Object.entries(objectOf(item) ?? {})
    .filter(([name, value]) => givenToOpenRouter.has(name) && value !== null)
    .map(([name]) => name)
}

export function isGivenBack(name: string): boolean {
  return !givenToOpenRouter.has(name) && !saysNothing.has(name)
}

/** The one name for code that Gemini wrote and Google ran, which has none in the answer. */
export const codeExecution = 'code_execution'
