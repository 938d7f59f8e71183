import type { CallText, Evidence } from '../call-text.ts'
import { withoutProgram } from './without-program.ts'

/** A longer answer is looked at in its first part. Pieces of a long text come one at a time. */
const maxUnits = 65_536
const maxTagUnits = 400
/** Where a browser that renders the answer would run code. Tried only at a `<`, or at a link's scheme. */
const runs =
  /<script\b[^<>]{0,300}>(?=[^<]{0,300}[\w)])|<script\b[^<>]{0,300}\bsrc\s{0,3}=|<[a-z][\w-]{0,20}\b[^<>]{0,300}?\bon(?:error|load|click|focus|blur|mouse\w{2,6}|pointer\w{2,6}|toggle|begin|animation\w{3,9}|key\w{2,5}|submit|change|input)\s{0,3}=|<(?:iframe|object|embed|a|form|meta|svg|base)\b[^<>]{0,300}?(?:javascript:|data:text\/html|srcdoc\s{0,3}=)|\]\(\s{0,3}javascript:/gi
/** What is read from the reader's browser, and how it leaves. */
const secrets =
  /\bdocument\s?\.\s?cookie|\b(?:local|session)Storage\b|\bauthorization\b|\bdocument\.(?:body|forms|documentElement)/i
const leaves =
  /\bfetch\s?\(|XMLHttpRequest|sendBeacon|new (?:Image|WebSocket|EventSource)|\.src\s?=|location\s?(?:=|\.href|\.assign|\.replace)/i
/** Requests for programs or pages. International words: they stand in requests of every language. */
const asksForCode =
  /\b(?:scripts?|javascript|js|typescript|jsx|react|vue|angular|svelte|html5?|css|web ?(?:page|site|app)s?|front-?end|components?|buttons?|widgets?|embed\w*|iframe|snippets?|code|coding|programm?\w*|functions?|xss|payloads?|event handlers?|onclick|templates?|email template|game|animation|chart|browser|código|quelltext|webseite)\b|код|代码|コード|코드/i
/** The same, where markup was asked for and only code that sends something away is a finding. */
const asksForScript =
  /\b(?:scripts?|javascript|js|typescript|jsx|react|vue|angular|svelte|xss|payloads?|event handlers?|onclick|code|coding|programm?\w*|functions?|snippets?|front-?end|components?|web ?(?:page|site|app)s?|game|fetch|cookies?|browser)\b|код|代码|コード|코드/i
const fence = /```[^]{0,60000}?(?:```|$)|`[^`<\n]{0,200}<[^`\n]{1,300}`/g

/** What is asked for, as far as it is looked at: the beginnings and ends of the request's texts. */
export type Asked = string[]

const [maxEndUnits, maxEnds] = [2_000, 40]

export function noteAsked(asked: Asked, { text }: CallText): void {
  if (asked.length >= maxEnds) asked.shift()
  asked.push(
    text.length <= 2 * maxEndUnits ? text : `${text.slice(0, maxEndUnits)}\n${text.slice(-maxEndUnits)}`,
  )
}

/**
 * Markup in an answer that runs code where the answer is rendered (OWASP LLM05), outside blocks of code.
 * Without a request for code any is found; where markup was asked for, only code that reads from the page and
 * sends it away.
 */
export function findActiveMarkup(given: CallText, asked: Asked): Evidence | undefined {
  if (!given.text.includes('<') && !given.text.includes('](')) return undefined
  // A tool's arguments are not rendered.
  if (/\/(?:tool_calls|function_call|arguments|input)(?:\/|$)/.test(given.pointer)) return undefined
  // A program holds markup in its strings.
  if (withoutProgram(given) !== given) return undefined
  const text = given.text.slice(0, maxUnits).replace(fence, (block) => ' '.repeat(block.length))
  for (const { index, 0: tag } of text.matchAll(runs)) {
    const near = text.slice(index, index + tag.length + maxTagUnits)
    if (asked.some((said) => asksForScript.test(said))) return undefined
    const isOwn = asked.some((said) => asksForCode.test(said))
    if (isOwn && !(secrets.test(near) && leaves.test(near))) continue
    const { part, pointer, offset } = given
    const start = offset + index
    return { part, pointer, start, end: start + tag.length, kind: 'active_markup' }
  }
  return undefined
}
