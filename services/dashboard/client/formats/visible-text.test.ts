import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { splitVisible, toVisibleText } from './visible-text.ts'

describe('toVisibleText', () => {
  test.each([
    ['plain text', 'Grüße, 日本語, \u05e9\u05dc\u05d5\u05dd', 'Grüße, 日本語, \u05e9\u05dc\u05d5\u05dd'],
    ['lines and tabs', 'a\tb\r\nc\n', 'a\tb\r\nc\n'],
    ['a direction override', 'user\u202egnp.exe', 'user⟨RLO⟩gnp.exe'],
    ['isolates', '\u2066x\u2069', '⟨LRI⟩x⟨PDI⟩'],
    ['colours of a terminal', '\u001b[31mred\u001b[0m', '⟨ESC⟩[31mred⟨ESC⟩[0m'],
    ['C1 controls', '\u009b2J', '⟨U+009B⟩2J'],
    ['zero width', 'pass\u200bword\ufeff', 'pass⟨ZWSP⟩word⟨BOM⟩'],
    ['a line that is overwritten', 'good\rbad', 'good⟨CR⟩bad'],
    ['tag characters', 'a\u{e0041}', 'a⟨U+E0041⟩'],
    ['a filler that looks like nothing', 'a\u3164', 'a⟨U+3164⟩'],
    ['half a surrogate pair', 'a\ud83d', 'a⟨U+D83D⟩'],
    ['a family of emoji', '👩‍👧 ❤️', '👩‍👧 ❤️'],
    ['a joiner between letters', 'a\u200db', 'a⟨ZWJ⟩b'],
    ['a data smuggling run of variation selectors', '😀\ufe01\ufe02', '😀⟨U+FE01⟩⟨U+FE02⟩'],
    ['a run of one', 'a\u200b\u200b\u200bb', 'a⟨ZWSP ×3⟩b'],
    ['a run of several', '\u200b\u200b\u200c\u200b', '⟨ZWSP ×2⟩⟨ZWNJ⟩⟨ZWSP⟩'],
    ['markup', '<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ])('%s', (_name, text, expected) => {
    expect(toVisibleText(text)).toBe(expected)
  })

  test('leaves no control and no direction, whatever comes', () => {
    const acts = (code: number) =>
      (code < 0x20 && ![9, 10, 13].includes(code)) ||
      (code >= 0x7f && code < 0xa0) ||
      [0x200e, 0x200f, 0x61c, 0xfeff].includes(code) ||
      (code >= 0x2028 && code <= 0x202e) ||
      (code >= 0x2066 && code <= 0x2069) ||
      (code >= 0xe0000 && code <= 0xe0fff)
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(Array.from(toVisibleText(text), (one) => one.codePointAt(0) ?? 0).filter(acts)).toEqual([])
      }),
    )
  })

  test('a run is one mark, however long it is', () => {
    const [mark, end] = splitVisible(`${'\u200b\u200c'.repeat(50_000)}end`)
    expect(mark?.text).toBe(`${'⟨ZWSP⟩⟨ZWNJ⟩'.repeat(128)}⟨and 99744 more⟩`)
    expect(mark).toHaveProperty('title', '100000 invisible characters')
    expect(end).toEqual({ kind: 'text', text: 'end' })
  })

  test('loses nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = splitVisible(text).filter(({ kind }) => kind === 'text')
        expect(shown.every((part) => text.includes(part.text))).toBe(true)
      }),
    )
  })
})
