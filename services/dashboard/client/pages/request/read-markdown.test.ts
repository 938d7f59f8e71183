import { expect, test } from '@jest/globals'
import { readMarkdown, type Inline } from './read-markdown.ts'

const marks = { plain: '', code: '`', strong: '**', emphasis: '*' }
const line = (inlines: readonly Inline[]) =>
  inlines.map(({ style, text }) => `${marks[style]}${text}${marks[style]}`).join('')
const shown = (text: string) =>
  readMarkdown(text)?.map((block) => {
    if (block.kind === 'code') return `code: ${block.info}: ${block.text}`
    if (block.kind === 'list') return `${block.isOrdered ? 'ol' : 'ul'}: ${block.items.map(line).join(' / ')}`
    if (block.kind === 'table')
      return `table: ${block.rows.map((row) => row.map(line).join(',')).join(' / ')}`
    return `${block.kind}: ${line(block.inlines)}`
  })

test.each([
  ['# Title\nwords **bold** and `code`', ['heading: Title', 'paragraph: words **bold** and `code`']],
  ['Do:\n- one\n- *two*\n\n7. first', ['paragraph: Do:', 'ul: one / *two*', 'ol: 7. first']],
  ['```ts\nlet a = 1\n# no title\n```\nend', ['code: ts: let a = 1\n# no title', 'paragraph: end']],
  ['```\nnever closed', ['code: : never closed']],
  ['| a | b |\n|---|:-:|\n| 1 | 2 |', ['table: a,b / 1,2']],
  ['> quoted\n> more', ['quote: quoted\nmore']],
  ['a\r\n\r\n- b', ['paragraph: a', 'ul: b']],
])('%s', (text, expected) => {
  expect(shown(text)).toEqual(expected)
})

test.each([
  'plain words',
  'two\n\nparagraphs',
  '2 * 3 * 4 and snake_case_name',
  '[a link](https://example.com) ![x](https://example.com/x.png) <img src=x onerror=y>',
])('%s has nothing to format, and stays as it is', (text) => {
  expect(readMarkdown(text)).toBeUndefined()
})

test('keeps every word of hostile text, however it is nested', () => {
  for (const hostile of [
    '`a'.repeat(10_000),
    '**a'.repeat(6_000),
    '> '.repeat(9_000),
    '|'.repeat(20_000),
    '*a '.repeat(6_000),
  ])
    expect(JSON.stringify(readMarkdown(hostile) ?? hostile).length).toBeGreaterThan(hostile.length / 4)
})
