import type { HiddenText } from '../phrases/decode-hidden.ts'
import { findMatches } from '../find-matches.ts'

const maxPassages = 50
const [open, close] = ['<!--', '-->']
const [minUnits, maxUnits] = [12, 4_000]
const markdownComment = /^\[\/\/\]:\s?#\s?[("']([^\n]{12,4000})[)"']\s?$/gm
/** An element hidden by its own style. */
const unseen =
  /<([a-z][a-z0-9]{0,10})\b[^<>]{0,300}?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em|%)?\s*[;"']|opacity\s*:\s*0(?:\.0+)?\s*[;"']|color\s*:\s*(?:#fff(?:fff)?|white)\b|(?:left|top|text-indent)\s*:\s*-\d{4,}|\shidden(?:\s|=|"|(?=>)))[^<>]{0,300}>([^<]{12,4000})/gi

/** Texts of HTML and Markdown that models see and people do not. */
export function revealMarkup(text: string): HiddenText[] {
  const inMarkdown = text.includes('[//]:') ? hiddenBy(text, markdownComment, 1) : []
  if (!text.includes('<')) return inMarkdown
  return [...inMarkdown, ...comments(text), ...hiddenBy(text, unseen, 2)]
}

/** Found by hand: a pattern would rescan from each of 16,000 consecutive openings, 0.2 s in all. */
function comments(text: string): HiddenText[] {
  const found: HiddenText[] = []
  let end = 0
  for (let start = text.indexOf(open); start !== -1 && found.length < maxPassages;) {
    const from = start + open.length
    if (end < from + minUnits) end = text.indexOf(close, from + minUnits)
    if (end === -1) break
    const isOne = end - from <= maxUnits
    if (isOne) found.push({ start, end: end + close.length, encoding: 'markup', text: text.slice(from, end) })
    start = text.indexOf(open, isOne ? end + close.length : start + 1)
  }
  return found
}

function hiddenBy(text: string, pattern: RegExp, group: number): HiddenText[] {
  return findMatches(text, pattern, maxPassages).map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    encoding: 'markup',
    text: match[group] ?? '',
  }))
}
