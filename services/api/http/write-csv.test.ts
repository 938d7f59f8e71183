import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { writeCsvLine } from './write-csv.ts'

test.each([
  ['nothing', [null, undefined, ''], ',,\r\n'],
  ['numbers and flags', [1.5, -2, true], '1.5,-2,true\r\n'],
  ['quotes and breaks', ['a"b', 'c,d', 'e\nf', 'g\rh'], '"a""b","c,d","e\nf","g\rh"\r\n'],
  ['an object', [{ team: 'a' }], '"{""team"":""a""}"\r\n'],
  ['formulas', ['=cmd|calc', '+1', '-1', '@SUM(A1)', '\tx'], "'=cmd|calc,'+1,'-1,'@SUM(A1),'\tx\r\n"],
  ['a formula behind a line break', ['\n=1'], '"\'\n=1"\r\n'],
  ['a formula that has to be quoted', ['=HYPERLINK("x","y")'], `"'=HYPERLINK(""x"",""y"")"\r\n`],
  ['full-width and small signs', ['＝1', '＋1', '－1', '＠A', '﹦1'], "'＝1,'＋1,'－1,'＠A,'﹦1\r\n"],
  ['signs and spaces inside a text', ['a=1', ' a', '\u200bx-y', '１＋1'], 'a=1, a,\u200bx-y,１＋1\r\n'],
])('%s', (_name, values, line) => {
  expect(writeCsvLine(values)).toBe(line)
})

test.each([
  ['a space', ' '],
  ['spaces and a tab', '  \t '],
  ['a BOM', '\ufeff'],
  ['a no-break space', '\u00a0'],
  ['an ideographic space', '\u3000'],
  ['a zero-width space', '\u200b'],
  ['a word joiner', '\u2060'],
  ['a direction mark', '\u202e'],
  ['a variation selector', '\ufe0f'],
  ['a NUL', '\0'],
])('a formula behind %s is text', (_name, lead) => {
  for (const sign of '=+-@＝＋－＠') expect(writeCsvLine([`${lead}${sign}1`])).toBe(`'${lead}${sign}1\r\n`)
})

test('any text comes back by the rules of RFC 4180, and never as a formula', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 }), (texts) => {
      const cells = readLine(writeCsvLine(texts))
      expect(cells.map((cell, index) => (cell === `'${texts[index]}` ? cell.slice(1) : cell))).toEqual(texts)
      for (const cell of cells) expect(cell.trimStart()).not.toMatch(/^[=+\-@＝＋－＠]/)
    }),
  )
})

function readLine(line: string): string[] {
  const cells: string[] = []
  let rest = line
  while (rest !== '') {
    const [all, quoted, plain = ''] = /^(?:"((?:[^"]|"")*)"|([^,\r\n]*))(?:,|\r\n)/.exec(rest) ?? ['']
    if (all === '') throw new Error(`not CSV: ${JSON.stringify(rest)}`)
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    rest = rest.slice(all.length)
    if (all.endsWith(',') && rest === '') cells.push('')
  }
  return cells
}
