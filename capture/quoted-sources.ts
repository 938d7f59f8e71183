import { wordsIn } from './content-texts.ts'
import { listOf, objectOf } from './json.ts'
import { sourceKeys, wordsOfSource } from './tool-results.ts'

/** Limit of characters of `material` times quotations; beyond it the search takes too long. */
const maxCompared = 10_000_000

/** Texts of the sources that an answer quotes, each once, except those already contained in `material`. */
export function quotedIn(body: unknown, material: readonly string[]): string[] {
  const quoted = allQuoted(body)
  if (quoted.length === 0) return quoted
  const all = withoutBlanks(material.join(''))
  if (all.length * quoted.length > maxCompared) return quoted
  return quoted.filter((text) => !all.includes(withoutBlanks(text)))
}

/** Quotations have other line breaks. */
function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, '')
}

function allQuoted(body: unknown): string[] {
  const found = new Set<string>()
  const pending: { value: unknown; isSource: boolean }[] = [{ value: body, isSource: false }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, isSource } = next
    // Only objects and arrays: entries for the millions of numbers of a vector would take a gigabyte.
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
