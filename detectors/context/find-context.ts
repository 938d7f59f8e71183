import { findMatches } from '../find-matches.ts'
import { endOfContext } from './end-of-context.ts'

/** A stretch of a text in UTF-16 offsets. */
export interface Span {
  start: number
  end: number
}

/** Shorter passages say nothing that could be checked or obeyed. */
const minUnits = 20
/** Marks of a text that are looked at. Texts with more are data, which tools return. */
const maxMarks = 2_000

/** Elements in which applications put what they retrieved. */
const ofApplications =
  'context|documents?|docs?|sources?|passages?|search_results?|search-results?|results?|tool_results?|tool_outputs?|function_results?|retrieved(?:_\\w{1,20})?|retrieval|references?|knowledge(?:_?base)?|snippets?|chunks?|excerpts?|articles?|web_?pages?|pages?|websites?|e?mails?|files?|file_contents?|attachments?|transcripts?|resumes?|cvs?|tickets?|issues?|reviews?|document_contents?|contents?|untrusted_\\w{1,20}|external_\\w{1,20}|memory|memories'
/** Elements of pages that people paste. */
const ofPages = 'html|body|table|code|text|data|paper|letter|post|comment|message|description|input'
const elements = new RegExp(`<(/?)(${ofApplications}|${ofPages})(?=[\\s>])[^<>]{0,300}>`, 'gi')
const ofPrompts = new RegExp(`^(?:${ofApplications})$`, 'i')

const kind =
  'context(?: information)?|documents?|sources?|passages?|search results?|results|articles?|excerpts?|references?|knowledge(?: base)?|reference material|snippets?|chunks?|evidence|transcript|e-?mails?|web ?pages?|background(?: information)?'
const quality =
  'retrieved|relevant|supporting|reference|source|additional|provided|supplied|search|web|internal|company|user|helpful'
/**
 * "Context:", "## Retrieved documents", "Context information is below." and a rule: LangChain, LlamaIndex.
 */
const header = new RegExp(
  `^[ \\t>]{0,8}(#{1,6} |\\*{1,2})?(?:the )?(?:(?:${quality}) ){0,2}(?:${kind})(?: (?:is|are) (?:given |provided |listed )?below)?(?:\\*{0,2}:\\*{0,2}|\\.?[ \\t]{0,4}\\n[-=]{3,}|\\*{1,2}[ \\t]{0,4}$|(?<=#{1,6} [^\\n]{1,60})[ \\t]{0,4}$)`,
  'gim',
)
/** "[doc1] …", "Document [2](Title: …)", "Source 3: …". A number alone is a footnote. */
const numbered =
  /^[ \t]{0,8}(?:\[(?:doc|document|source|passage|ref|result|chunk) ?#?\d{1,3}\]|(?:document|doc|source|passage|article|search result|result|chunk|snippet|excerpt) ?[#[]{0,2}\d{1,3}\]?(?: ?\([^)\n]{0,200}\))?:|\[\d{1,3}\] )/gim
/** "Summarise this page: …", "Answer only from the following documents: …". */
const introduced =
  /\b(?:this|these|the following|following|below|attached|given|here(?:'s| is| are)(?: [\w'’]{1,20}){0,5}?|(?:based on|summary of|from|of|summari[sz]e|translate|analy[sz]e|classify|review|read|rate|proofread) (?:an?|the|my|our|this))\s(?:\w{1,20}\s){0,2}?(?:documents?|web ?pages?|pages?|websites?|articles?|e-?mails?|papers?|resumes?|cvs?|reviews?|transcripts?|passages?|tables?|tickets?|issues?|files?|contracts?|reports?|posts?|threads?|invoices?|messages?|texts?|sources?|letters?|code|descriptions?|comments?|tweets?|excerpts?|abstracts?|readme|changelog|logs?|profiles?|notes?|search results|paragraphs?|content)\b(?:[^\S\n][\w(),'’-]{1,30}){0,5}[^\S\n]?:\s{0,4}/gi
/** In a system prompt: what is to be answered from. */
const answeredFrom =
  /\b(?:from|on|using|in|with) (?:only )?(?:this|these|the following|the) (?:\w{1,20} ){0,2}?(?:documents?|context|sources?|passages?|articles?|excerpts?|information|text|facts|policy|policies|page|web ?page|search results|knowledge base|manual|handbook|material)(?: below)?:\s{0,4}/gi
const fenced = /^[ \t]{0,8}(```|~~~|"""|''')[^\n]{0,60}\n?/gm
/** At least a heading, a rule and a row. */
const table = /^[ \t]{0,8}\|[^\n]*(?:\n[ \t]{0,8}\|[^\n]*){2,}/gm

/**
 * Passages of a prompt that neither operator nor user wrote there: retrieved by the application, or pasted by
 * the user. Sorted, apart from each other. Recognised by the marks that applications and people put around
 * them. Text without marks stays its speaker's.
 */
export function findContext(text: string, speaker: 'user' | 'system'): Span[] {
  if (text.length < minUnits || !mayHold.test(text)) return []
  const found = [
    ...elementsIn(text, speaker),
    ...underHeaders(text),
    ...numberedIn(text),
    ...introducedIn(text, speaker),
    ...(speaker === 'user' ? [...fencedIn(text), ...tablesIn(text)] : []),
  ]
  return joined(found.filter(({ start, end }) => end - start >= minUnits))
}

/** A cheap gate: an element, a bracketed number, a row, a fence, a rule, or a colon before a passage. */
const mayHold = /<[a-z]|\[\w{0,10} ?\d{1,3}\]|^[ \t]{0,8}[|#]|```|~~~|"""|'''|\n[-=]{3}|:\s/im

function elementsIn(text: string, speaker: 'user' | 'system'): Span[] {
  const spans: Span[] = []
  let open: { name: string; start: number } | undefined
  for (const match of findMatches(text, elements, maxMarks)) {
    const [tag, slash, given = ''] = match
    const name = given.toLowerCase()
    if (slash === '/') {
      if (open?.name !== name) continue
      spans.push({ start: open.start, end: match.index })
      open = undefined
    } else if (open === undefined && (speaker === 'user' || ofPrompts.test(name)))
      open = { name, start: match.index + tag.length }
  }
  // What was never closed: text was cut, or the page's author left it out. A lone "<file>" names a
  // placeholder.
  if (open !== undefined && text.slice(open.start).includes('\n'))
    spans.push({ start: open.start, end: text.length })
  return spans
}

function underHeaders(text: string): Span[] {
  const spans: Span[] = []
  let end = 0
  for (const match of findMatches(text, header, maxMarks)) {
    // Headers within a passage are its own. So no part of a text is searched twice for an end.
    if (match.index < end) continue
    const start = match.index + match[0].length
    end = endOfContext(text, start, match[1]?.startsWith('#') === true ? match[1].trim().length : 0)
    spans.push({ start, end })
  }
  return spans
}

function numberedIn(text: string): Span[] {
  const marks = findMatches(text, numbered, maxMarks)
  const [first] = marks
  const isLabelled = marks.some(([mark]) => /[a-z]/i.test(mark))
  if (first === undefined || (!isLabelled && marks.length < 2)) return []
  return [{ start: first.index, end: endOfContext(text, first.index) }]
}

function introducedIn(text: string, speaker: 'user' | 'system'): Span[] {
  const [match] = findMatches(text, speaker === 'user' ? introduced : answeredFrom, 1)
  if (match === undefined) return []
  const start = match.index + match[0].length
  const quote = closingQuotes.get(text.charAt(start))
  const closed = quote === undefined ? -1 : text.lastIndexOf(quote)
  return [{ start, end: closed > start + minUnits ? closed : endOfContext(text, start) }]
}

const closingQuotes: ReadonlyMap<string, string> = new Map([
  ["'", "'"],
  ['"', '"'],
  ['“', '”'],
  ['«', '»'],
  ['{', '}'],
  ['[', ']'],
  ['`', '`'],
])

function fencedIn(text: string): Span[] {
  const marks = findMatches(text, fenced, maxMarks)
  const spans: Span[] = []
  for (let at = 0; at < marks.length; at++) {
    const open = marks[at]
    if (open === undefined) break
    const close = marks.findIndex((mark, nth) => nth > at && mark[1] === open[1])
    spans.push({ start: open.index + open[0].length, end: marks[close]?.index ?? text.length })
    if (close === -1) break
    at = close
  }
  return spans
}

function tablesIn(text: string): Span[] {
  return findMatches(text, table, maxMarks).map(({ index, 0: rows }) => ({
    start: index,
    end: index + rows.length,
  }))
}

function joined(spans: readonly Span[]): Span[] {
  const sorted = spans.toSorted((a, b) => a.start - b.start)
  const apart: Span[] = []
  for (const { start, end } of sorted) {
    const last = apart.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else apart.push({ start, end })
  }
  return apart
}
