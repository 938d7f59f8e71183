import type { CallText } from '../call-text.ts'
import { onceForText } from '../once-for-text.ts'

/**
 * What a text has of tools, searches and documents: all of a tool's text, and the passages of a prompt that
 * were retrieved or pasted. Their offsets are those of the string, so evidence stands where it is. The same
 * objects for every detector, which share what is cached for them.
 */
export const materialOf = onceForText((text: CallText): readonly CallText[] => {
  if (text.speaker === 'tool') return [text]
  const { context, ...said } = text
  if (context === undefined) return []
  const end = text.offset + text.text.length
  return context
    .map((span) => ({ from: Math.max(span.start, text.offset), to: Math.min(span.end, end) }))
    .filter(({ from, to }) => from < to)
    .map(({ from, to }) => ({
      ...said,
      speaker: 'tool' as const,
      text: text.text.slice(from - text.offset, to - text.offset),
      offset: from,
    }))
})
