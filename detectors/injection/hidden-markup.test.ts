import { expect, test } from '@jest/globals'
import { revealMarkup } from './hidden-markup.ts'

const words = 'twelve words'

test.each<[string, string, string[]]>([
  ['a comment', `a <!--${words}--> b`, [words]],
  ['two of them', `<!--${words}--><!-- ${words} -->`, [words, ` ${words} `]],
  ['one that is too short for an order', '<!--short-->', []],
  ['a short one, and on to the end of the next', `<!--short--> and <!--x-->`, ['short--> and <!--x']],
  ['one within another', `<!-- <!--${words}-->`, [` <!--${words}`]],
  ['one that does not end', `<!--${words} ->`, []],
  ['one as long as any', `<!--${'x'.repeat(4_000)}-->`, ['x'.repeat(4_000)]],
  ['a longer one', `<!--${'x'.repeat(4_001)}-->`, []],
  [
    'a comment whose end is too far from another beginning',
    `<!--${'x'.repeat(4_000)}<!--${words}-->`,
    [words],
  ],
  ['an element that nobody sees', `<p style="display: none">${words}</p>`, [words]],
])('%s', (_name, text, hidden) => {
  const found = revealMarkup(text)
  expect(found.map((passage) => passage.text)).toEqual(hidden)
  for (const { start, end, text: said } of found) expect(text.slice(start, end)).toContain(said)
})
