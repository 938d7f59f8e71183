import { objectOf, type JsonObject } from '../json.ts'

/** Names under which chunks have what a model writes, whatever their format. */
const textNames = new Set([
  ...['content', 'text', 'delta', 'refusal', 'answer', 'transcript', 'partial_json', 'arguments'],
  ...['thinking', 'reasoning', 'reasoning_content', 'reasoning_text', 'summary_text', 'data'],
])
/** Names of what is generated with all that is in it: Gemini's calls have arguments of any name. */
const wholeNames = new Set(['functionCall', 'tool_calls', 'executableCode', 'partial_image_b64'])
/** What was asked stands in the first events of some. */
const askedNames = new Set([
  ...['instructions', 'input', 'inputs', 'query', 'prompt', 'tools', 'tool_choice', 'metadata', 'usage'],
])
/** Responses have a text five levels deep, and calls of chat completions one at seven. */
const maxDepth = 10

/** Whether a chunk of a stream has something that the model generated: the first events of many say no more than that it begins. */
export function holdsWords(chunk: JsonObject): boolean {
  return isGenerated(chunk, { isText: false, isWhole: false }, 0)
}

interface Under {
  isText: boolean
  isWhole: boolean
}

function isGenerated(value: unknown, under: Under, depth: number): boolean {
  if (typeof value === 'string') return value !== '' && (under.isText || under.isWhole)
  if (depth >= maxDepth) return false
  if (Array.isArray(value)) return value.some((entry) => isGenerated(entry, under, depth + 1))
  return Object.entries(objectOf(value) ?? {}).some(([name, inner]) => {
    if (askedNames.has(name)) return false
    const isWhole = under.isWhole || wholeNames.has(name)
    return isGenerated(inner, { isText: textNames.has(name), isWhole }, depth + 1)
  })
}
