import { allTexts } from './all-texts.ts'
import { sourceKeys, wordsOfSource } from './tool-results.ts'

/** The words of the sources that an answer quotes: what a search or a document said, each once. */
export function quotedIn(body: unknown): string[] {
  const found = new Set<string>()
  const pending: { value: unknown; isSource: boolean }[] = [{ value: body, isSource: false }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, isSource } = next
    if (typeof value !== 'object' || value === null) continue
    for (const [name, inner] of Object.entries(value).toReversed())
      if (isSource && wordsOfSource.has(name)) found.add(allTexts(inner).join('\n'))
      else if (typeof inner === 'object')
        pending.push({ value: inner, isSource: isSource || sourceKeys.has(name) })
  }
  found.delete('')
  return [...found]
}
