import { wordsIn } from './content-texts.ts'
import { listOf, objectOf } from './json.ts'
import { sourceKeys, wordsOfSource } from './tool-results.ts'

/** To look for more than this takes longer than it is worth: characters of `brought`, times what is quoted. */
const maxCompared = 10_000_000

/** The words of the sources that an answer quotes: what a search or a document said, each once, and none that stands in what was `brought`. */
export function quotedIn(body: unknown, brought: readonly string[]): string[] {
  const quoted = allQuoted(body)
  if (quoted.length === 0) return quoted
  const all = withoutBlanks(brought.join(''))
  if (all.length * quoted.length > maxCompared) return quoted
  return quoted.filter((text) => !all.includes(withoutBlanks(text)))
}

/** Lines end elsewhere in a quotation. */
function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, '')
}

function allQuoted(body: unknown): string[] {
  const found = new Set<string>()
  const pending: { value: unknown; isSource: boolean }[] = [{ value: body, isSource: false }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, isSource } = next
    // No entries of a list: for the millions of numbers that a vector may have they would take a gigabyte.
    for (const inner of listOf(value).filter(isHolder).toReversed()) pending.push({ value: inner, isSource })
    for (const [name, inner] of Object.entries(objectOf(value) ?? {}).toReversed())
      if (isSource && wordsOfSource.has(name)) found.add(wordsIn(inner).join('\n'))
      else if (isHolder(inner)) pending.push({ value: inner, isSource: isSource || sourceKeys.has(name) })
  }
  found.delete('')
  return [...found]
}

function isHolder(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
