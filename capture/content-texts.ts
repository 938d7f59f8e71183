import { allTexts } from './all-texts.ts'
import { fieldAt, listOf, objectOf, textOf } from './json.ts'
import { isResultType, offeredTypes, wordsOfResult } from './tool-results.ts'

/** The texts of content in any provider's form: a string, a part, parts. Images and signatures have none, audio its transcript. */
export function contentTexts(content: unknown): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content]
  if (Array.isArray(content)) return listOf(content).flatMap(partTexts)
  return partTexts(content)
}

function partTexts(part: unknown): string[] {
  if (typeof part === 'string') return part === '' ? [] : [part]
  // Gemini has what a model thought among its words.
  if (fieldAt(part, 'thought') === true) return []
  const text =
    textOf(fieldAt(part, 'text')) ?? textOf(fieldAt(part, 'refusal')) ?? textOf(fieldAt(part, 'transcript'))
  if (text !== undefined) return [text]
  const document = fieldAt(part, 'type') === 'document' ? wordsOfDocument(part) : []
  const inside = [
    // In what a tool answered.
    ...(Array.isArray(document) ? listOf(document) : [document]),
    ...listOf(fieldAt(part, 'content')),
    ...listOf(fieldAt(part, 'parts')),
    // What a shell printed.
    ...[fieldAt(part, 'stdout'), fieldAt(part, 'stderr')],
    // Bedrock's, with what it is cited from beside it.
    ...listOf(fieldAt(part, 'citationsContent', 'content')),
  ]
  return inside.flatMap((inner) => {
    const found = typeof inner === 'string' ? textOf(inner) : textOf(fieldAt(inner, 'text'))
    return found === undefined ? [] : [found]
  })
}

/** The words of the result in a part, an item or a step that is one. */
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
    // The provider's own tools answer in objects of many shapes.
    return type === 'tool_result' || type === 'search_result' ? (content ?? '') : readable(content)
  }
  for (const [holder, words] of wordsOfResult) {
    const nested = fieldAt(part, holder, words)
    if (nested !== undefined) return allTexts(nested)
  }
  return undefined
}

/** A PDF has none that can be read here. */
function wordsOfDocument(part: unknown): unknown {
  const { type, data, content } = objectOf(fieldAt(part, 'source')) ?? {}
  if (type === 'base64') return ''
  return data ?? content ?? allTexts(fieldAt(part, 'document'))
}

/** Words as parts have them (pictures may stand between them), else all texts of a result or a source in whatever shape. */
export function wordsIn(found: unknown): string[] {
  const said = contentTexts(found)
  return said.length > 0 ? said : allTexts(found)
}

const unread = new Set(['type', 'encrypted_content'])

/** What the provider's own tools found, without what only the provider can read. */
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
