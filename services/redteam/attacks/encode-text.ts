/** Cyrillic and Greek letters that look like Latin ones. */
const lookAlikes: Readonly<Record<string, string>> = {
  ...{ a: 'а', c: 'с', e: 'е', i: 'і', o: 'о', p: 'р', s: 'ѕ', x: 'х', y: 'у' },
  ...{ A: 'Α', B: 'Β', E: 'Ε', H: 'Η', I: 'Ι', K: 'Κ', M: 'Μ', N: 'Ν', O: 'Ο', P: 'Ρ', T: 'Τ', X: 'Χ' },
}
const leetDigits: Readonly<Record<string, string>> = { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7' }

const replaceLetters = (text: string, table: Readonly<Record<string, string>>) =>
  Array.from(text, (letter) => table[letter] ?? table[letter.toLowerCase()] ?? letter).join('')

/** Encodings that people or models can read back, and a filter may not. */
export const encodings = {
  base64: (text: string) => Buffer.from(text).toString('base64'),
  hex: (text: string) => Buffer.from(text).toString('hex'),
  rot13: (text: string) =>
    text.replace(/[a-z]/gi, (letter) => {
      const base = letter <= 'Z' ? 65 : 97
      return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
    }),
  backwards: (text: string) => Array.from(text).reverse().join(''),
  leetspeak: (text: string) => replaceLetters(text, leetDigits),
  look_alikes: (text: string) => Array.from(text, (letter) => lookAlikes[letter] ?? letter).join(''),
  zero_width: (text: string) => Array.from(text).join('\u200b'),
  full_width: (text: string) =>
    text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
  spaced: (text: string) => Array.from(text).join(' '),
  /** Unicode's tag letters: invisible, but models read them. */
  tag_letters: (text: string) =>
    Array.from(text, (letter) => {
      const code = letter.codePointAt(0) ?? 0
      return code < 0x80 ? String.fromCodePoint(0xe0000 + code) : letter
    }).join(''),
} as const

export type Encoding = keyof typeof encodings
