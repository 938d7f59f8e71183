import { objectOf, textOf, type JsonObject } from '../json.ts'

/** Members with generated text, in any format. */
const textNames = new Set([
  ...['content', 'text', 'delta', 'refusal', 'answer', 'response', 'transcript', 'partial_json', 'arguments'],
  ...['thinking', 'reasoning', 'reasoning_content', 'reasoning_text', 'summary_text', 'data', 'tool_plan'],
])
/** Members whose whole content is generated, as arguments may have any name. */
const wholeNames = new Set([
  'toolUse',
  'functionCall',
  'functionCalls',
  'function_call',
  'tool_calls',
  'executableCode',
  'partial_image_b64',
])
/** Anthropic's calls, including hosted and MCP tools. A call without arguments has only a name. */
const callTypes = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use'])
/** Members that repeat the request in the first events. */
const askedNames = new Set([
  ...['instructions', 'input', 'inputs', 'query', 'prompt', 'tools', 'tool_choice', 'metadata', 'usage'],
])
/** Texts of responses are five levels deep, tool calls of chat completions seven. */
const maxDepth = 10

/** Whether a chunk contains generated content: the first events often only announce the stream. */
export function holdsWords(chunk: JsonObject): boolean {
  return isGenerated(chunk, { isText: false, isWhole: false, isDetail: false }, 0)
}

interface Under {
  isText: boolean
  isWhole: boolean
  /** Within OpenRouter's reasoning details, which have summaries; elsewhere `summary` is a setting. */
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
