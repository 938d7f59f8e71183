import { objectOf, textOf, type JsonObject } from '../json.ts'

/** Names under which chunks have what a model writes, whatever their format. */
const textNames = new Set([
  ...['content', 'text', 'delta', 'refusal', 'answer', 'response', 'transcript', 'partial_json', 'arguments'],
  ...['thinking', 'reasoning', 'reasoning_content', 'reasoning_text', 'summary_text', 'data', 'tool_plan'],
])
/** Names of what is generated with all that is in it: Gemini's calls have arguments of any name. */
const wholeNames = new Set([
  'toolUse',
  'functionCall',
  'function_call',
  'tool_calls',
  'executableCode',
  'partial_image_b64',
])
/** Anthropic's calls are known by their type: its own tools', and those of MCP servers. Without arguments one has no more than its name. */
const callTypes = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use'])
/** What was asked stands in the first events of some. */
const askedNames = new Set([
  ...['instructions', 'input', 'inputs', 'query', 'prompt', 'tools', 'tool_choice', 'metadata', 'usage'],
])
/** Responses have a text five levels deep, and calls of chat completions one at seven. */
const maxDepth = 10

/** Whether a chunk of a stream has something that the model generated: the first events of many say no more than that it begins. */
export function holdsWords(chunk: JsonObject): boolean {
  return isGenerated(chunk, { isText: false, isWhole: false, isDetail: false }, 0)
}

interface Under {
  isText: boolean
  isWhole: boolean
  /** In what OpenRouter passes on of reasoning, which has summaries; elsewhere `summary` is a setting. */
  isDetail: boolean
}

function isGenerated(value: unknown, under: Under, depth: number): boolean {
  if (typeof value === 'string') return value !== '' && (under.isText || under.isWhole)
  if (depth >= maxDepth) return false
  if (Array.isArray(value)) return value.some((entry) => isGenerated(entry, under, depth + 1))
  const fields = objectOf(value) ?? {}
  if (isNamedCall(fields)) return true
  return Object.entries(fields).some(([name, inner]) => {
    if (askedNames.has(name)) return false
    const isWhole = under.isWhole || wholeNames.has(name)
    const isText = textNames.has(name) || (under.isDetail && name === 'summary')
    return isGenerated(inner, { isText, isWhole, isDetail: name === 'reasoning_details' }, depth + 1)
  })
}

function isNamedCall({ type, name }: JsonObject): boolean {
  return callTypes.has(textOf(type) ?? '') && textOf(name) !== undefined
}
