import { allTexts } from './all-texts.ts'
import { fieldAt, listOf, objectOf, textOf } from './json.ts'
import { isResultType, offeredTypes, wordsOfResult } from './tool-results.ts'

/** Texts of content in any provider's format. Images and signatures have none; audio has its transcript. */
export function contentTexts(content: unknown): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content]
  if (Array.isArray(content)) return listOf(content).flatMap(partTexts)
  return partTexts(content)
}

function partTexts(part: unknown): string[] {
  if (typeof part === 'string') return part === '' ? [] : [part]
  // Gemini mixes the model's thoughts with its answer.
  if (fieldAt(part, 'thought') === true) return []
  const text =
    textOf(fieldAt(part, 'text')) ?? textOf(fieldAt(part, 'refusal')) ?? textOf(fieldAt(part, 'transcript'))
  if (text !== undefined) return [text]
  const document = fieldAt(part, 'type') === 'document' ? wordsOfDocument(part) : []
  const inside = [
    // Content of a tool result.
    ...(Array.isArray(document) ? listOf(document) : [document]),
    ...listOf(fieldAt(part, 'content')),
    ...listOf(fieldAt(part, 'parts')),
    // Output of a shell.
    ...[fieldAt(part, 'stdout'), fieldAt(part, 'stderr')],
    // Bedrock's cited content.
    ...listOf(fieldAt(part, 'citationsContent', 'content')),
  ]
  return inside.flatMap((inner) => {
    const found = typeof inner === 'string' ? textOf(inner) : textOf(fieldAt(inner, 'text'))
    return found === undefined ? [] : [found]
  })
}

/** The text of a tool result; undefined for any other part, item or step. */
export function toolResultOf(part: unknown): unknown {
  const type = textOf(fieldAt(part, 'type'))
  if (offeredTypes.has(type)) return ''
  if (type === 'document') return wordsOfDocument(part)
  if (isResultType(type)) {
    const output = fieldAt(part, 'output')
    if (output !== undefined) return output
    const result = fieldAt(part, 'result')
    if (result !== undefined) return wordsIn(result)
    const content = fieldAt(part, 'content')
    // Results of hosted tools are objects of many shapes.
    return type === 'tool_result' || type === 'search_result' ? (content ?? '') : readable(content)
  }
  for (const [holder, words] of wordsOfResult) {
    const nested = fieldAt(part, holder, words)
    if (nested !== undefined) return allTexts(nested)
  }
  return undefined
}

/** A PDF has no readable text here. */
function wordsOfDocument(part: unknown): unknown {
  const { type, data, content } = objectOf(fieldAt(part, 'source')) ?? {}
  if (type === 'base64') return ''
  return data ?? content ?? allTexts(fieldAt(part, 'document'))
}

/** The texts of content parts, or else every string in a result or source. */
export function wordsIn(found: unknown): string[] {
  const said = contentTexts(found)
  return said.length > 0 ? said : allTexts(found)
}

const unread = new Set(['type', 'encrypted_content'])

/** Results of hosted tools, without what only the provider can read. */
function readable(content: unknown): string[] {
  const entries = Array.isArray(content) ? listOf(content) : [content]
  return entries.flatMap((entry) => {
    const object = objectOf(entry)
    return allTexts(
      object === undefined
        ? entry
        : Object.entries(object).map(([name, value]) => (unread.has(name) ? '' : value)),
    )
  })
}
