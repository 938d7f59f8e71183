/** Part of a text: literal, or a mark for characters that would be invisible or change the display. */
export type TextPart = { kind: 'text'; text: string } | { kind: 'mark'; text: string; title: string }

/** Names of common characters; others are named by code point. */
const names: Readonly<Record<number, string>> = {
  0x00: 'NUL',
  0x07: 'BEL',
  0x08: 'BS',
  0x0d: 'CR',
  0x1b: 'ESC',
  0x7f: 'DEL',
  0xad: 'SHY',
  0x61c: 'ALM',
  0x200b: 'ZWSP',
  0x200c: 'ZWNJ',
  0x200d: 'ZWJ',
  0x200e: 'LRM',
  0x200f: 'RLM',
  0x202a: 'LRE',
  0x202b: 'RLE',
  0x202c: 'PDF',
  0x202d: 'LRO',
  0x202e: 'RLO',
  0x2060: 'WJ',
  0x2066: 'LRI',
  0x2067: 'RLI',
  0x2068: 'FSI',
  0x2069: 'PDI',
  0xfeff: 'BOM',
}

// Controls except tab and line feed, all format characters (directions, zero widths, tags), invisible fillers
// and selectors, line separators, lone surrogates, private use. Joiners and variation selectors inside emoji
// are left alone.
const hidden = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const emoji = /\p{Extended_Pictographic}/u

/**
 * Splits a text so that every invisible character becomes a mark. Logged text is hostile: a direction
 * override can make it read as another.
 */
export function splitVisible(text: string): TextPart[] {
  const parts: TextPart[] = []
  let shown = 0
  let run: Run | undefined
  const endRun = () => {
    if (run !== undefined) parts.push(markOf(run))
    run = undefined
  }
  const showUntil = (end: number) => {
    if (end === shown) return
    endRun()
    parts.push({ kind: 'text', text: text.slice(shown, end) })
  }
  for (const { 0: character, index } of text.matchAll(hidden)) {
    if (isHarmless(text, character, index)) continue
    showUntil(index)
    run = addCharacter(run ?? { named: [], more: 0 }, character.codePointAt(0) ?? 0)
    shown = index + character.length
  }
  showUntil(text.length)
  endRun()
  return parts
}

/** A run of hidden characters: the first ones with their repeat counts, and how many follow. */
interface Run {
  named: { code: number; times: number }[]
  more: number
}

/** Named characters per run: enough for a sentence hidden in tags; a million would be megabytes of names. */
const maxNamed = 256

function addCharacter({ named, more }: Run, code: number): Run {
  const last = named.at(-1)
  if (more > 0) return { named, more: more + 1 }
  if (last?.code === code) last.times++
  else if (named.length === maxNamed) return { named, more: 1 }
  else named.push({ code, times: 1 })
  return { named, more }
}

/** The same as plain text, for titles and chart labels. */
export function toVisibleText(text: string): string {
  return splitVisible(text)
    .map((part) => part.text)
    .join('')
}

function isHarmless(text: string, character: string, index: number): boolean {
  if (character === '\n' || character === '\t') return true
  if (character === '\r') return text[index + 1] === '\n'
  const joins = character === '\u200d' || character === '\ufe0f'
  return joins && emoji.test(text.slice(Math.max(0, index - 3), index))
}

function markOf({ named, more }: Run): TextPart {
  const texts = named.map(
    ({ code, times }) => `⟨${names[code] ?? numberOf(code)}${times === 1 ? '' : ` ×${times}`}⟩`,
  )
  const count = named.reduce((sum, { times }) => sum + times, more)
  return {
    kind: 'mark',
    text: texts.join('') + (more === 0 ? '' : `⟨and ${more} more⟩`),
    title:
      count === 1 ? `Invisible character ${numberOf(named[0]?.code ?? 0)}` : `${count} invisible characters`,
  }
}

function numberOf(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
