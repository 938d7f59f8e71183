/** Words in one style. Links, images and HTML stay as they are written: nothing is loaded or followed. */
export interface Inline {
  style: 'plain' | 'code' | 'strong' | 'emphasis'
  text: string
}

export type MarkdownBlock =
  | { kind: 'paragraph' | 'heading' | 'quote'; inlines: Inline[] }
  | { kind: 'code'; info: string; text: string }
  | { kind: 'list'; isOrdered: boolean; items: Inline[][] }
  | { kind: 'table'; rows: Inline[][][] }

const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/
const heading = /^#{1,6} +(.*)$/
const quote = /^ {0,3}> ?(.*)$/
const bullet = /^ *[-*+] +(.*)$/
/** With its number, which need not follow the one before. */
const numbered = /^ *(\d{1,9}[.)] +.*)$/
const tableRow = /^ *\|(.*)\| *$/
const tableRule = /^ *\|(?: *:?-+:? *\|)+ *$/

/**
 * The part of Markdown that models write: code, headings, lists, quotes, tables and emphasis. Reads each line
 * once. Undefined: the text has none of it.
 */
export function readMarkdown(text: string): MarkdownBlock[] | undefined {
  const blocks: MarkdownBlock[] = []
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  let at = 0
  /** The first group of each following line that matches. */
  const take = (pattern: RegExp) => {
    const taken: string[] = []
    for (let found = pattern.exec(lines[at] ?? ''); at < lines.length && found !== null;) {
      taken.push(found[1] ?? '')
      found = pattern.exec(lines[++at] ?? '')
    }
    return taken
  }
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const [, mark, info = ''] = fence.exec(line) ?? []
    if (mark !== undefined) {
      const end = lines.findIndex((each, index) => index > at && closes(each, mark))
      const last = end === -1 ? lines.length : end
      blocks.push({ kind: 'code', info: info.trim(), text: lines.slice(at + 1, last).join('\n') })
      at = last + 1
    } else if (line.trim() === '') at++
    else if (heading.test(line)) {
      blocks.push({ kind: 'heading', inlines: readInlines(heading.exec(line)?.[1] ?? '') })
      at++
    } else if (quote.test(line)) blocks.push({ kind: 'quote', inlines: readInlines(take(quote).join('\n')) })
    else if (bullet.test(line))
      blocks.push({ kind: 'list', isOrdered: false, items: take(bullet).map(readInlines) })
    else if (numbered.test(line))
      blocks.push({ kind: 'list', isOrdered: true, items: take(numbered).map(readInlines) })
    else if (tableRow.test(line) && tableRule.test(lines[at + 1] ?? '')) {
      const rows = take(tableRow).map((row) => row.split('|').map((cell) => readInlines(cell.trim())))
      blocks.push({ kind: 'table', rows: rows.filter((_row, index) => index !== 1) })
    } else {
      const start = at
      do at++
      while (at < lines.length && !beginsBlock(lines[at] ?? ''))
      blocks.push({ kind: 'paragraph', inlines: readInlines(lines.slice(start, at).join('\n')) })
    }
  }
  const isPlain = blocks.every(
    (block) => block.kind === 'paragraph' && block.inlines.every(({ style }) => style === 'plain'),
  )
  return isPlain ? undefined : blocks
}

/** A line of nothing but the mark: words behind it would be lost. */
function closes(line: string, mark: string): boolean {
  const trimmed = line.trim()
  return trimmed.startsWith(mark) && trimmed.replaceAll(mark.slice(0, 1), '') === ''
}

function beginsBlock(line: string): boolean {
  return (
    line.trim() === '' || [fence, heading, quote, bullet, numbered, tableRow].some((each) => each.test(line))
  )
}

const styled = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|__([^_\n]+)__|(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])/g

function readInlines(text: string): Inline[] {
  const inlines: Inline[] = []
  let shown = 0
  for (const found of text.matchAll(styled)) {
    const [whole, code, strong, alsoStrong, emphasis] = found
    if (found.index > shown) inlines.push({ style: 'plain', text: text.slice(shown, found.index) })
    const style = code !== undefined ? 'code' : emphasis !== undefined ? 'emphasis' : 'strong'
    inlines.push({ style, text: code ?? strong ?? alsoStrong ?? emphasis ?? '' })
    shown = found.index + whole.length
  }
  if (shown < text.length) inlines.push({ style: 'plain', text: text.slice(shown) })
  return inlines
}
