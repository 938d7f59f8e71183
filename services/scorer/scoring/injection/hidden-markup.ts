import type { HiddenText } from '../phrases/decode-hidden.ts'

const mostPassages = 50
const comment = /<!--([^]{12,4000}?)-->/g
/** An element that its own style keeps people from seeing. */
const unseen =
  /<([a-z][a-z0-9]{0,10})\b[^<>]{0,300}?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em|%)?\s*[;"']|opacity\s*:\s*0(?:\.0+)?\s*[;"']|color\s*:\s*(?:#fff(?:fff)?|white)\b|\shidden(?:\s|=|>|"))[^<>]{0,300}>([^<]{12,4000})/gi

/** Texts of HTML and Markdown that are shown to models and not to people. */
export function revealMarkup(text: string): HiddenText[] {
  if (!text.includes('<')) return []
  return [...hiddenBy(text, comment, 1), ...hiddenBy(text, unseen, 2)]
}

function hiddenBy(text: string, pattern: RegExp, group: number): HiddenText[] {
  return text
    .matchAll(pattern)
    .take(mostPassages)
    .map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      encoding: 'markup' as const,
      text: match[group] ?? '',
    }))
    .toArray()
}
