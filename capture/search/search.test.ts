import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { findInCall } from './find-in-call.ts'
import { readSearch, wordsToFind } from './search-query.ts'
import { createHashWord, createSignCall, mayHold, maxSignatureBytes } from './search-signature.ts'
import { searchedTexts } from './searched-texts.ts'
import { unitsOf } from './search-units.ts'

const key = { id: 's1', key: Buffer.alloc(32, 7) }
const sign = createSignCall([key])
const hash = createHashWord(key)
const project = 'prj_1'

const asked = (content: string) => JSON.stringify({ messages: [{ role: 'user', content }] })
const mayMatch = (bits: Buffer, text: string) =>
  mayHold(
    bits,
    wordsToFind(readSearch(text) ?? []).map((word) => hash(project, word)),
  )
const found = (text: string, request: string, response: string | null = null) =>
  findInCall(readSearch(text) ?? [], { request, response })

test.each([
  ['case and compatible forms', 'STRASSE ﬁn Ｋｅｙ', ['straße', 'fin', 'key', 'FIN KEY']],
  ['both sigmas', 'ΟΔΟΣ.Α', ['οδος', 'οδοσ']],
  ['composed or not', 'caf\u0065\u0301', ['café']],
  ['invisible characters', 'se\u200bcret so\u00adlo', ['secret', 'solo', '"secret solo"']],
  [
    'signs between the words of a phrase',
    'sk-live_4eC39,then',
    ['sk-live_4eC39', '"live 4eC39 then"', '4eC39'],
  ],
  ['Chinese, also a single character', '今天天气很好', ['天气', '天天气', '气', '"今天天气"']],
  ['Japanese with Latin words', 'GPT4を使う', ['gpt4', '使う', 'を使']],
  ['half-width kana', 'ｶﾞｲﾄﾞ', ['ガイド', 'イド']],
  ['Thai and Korean', 'สวัสดีครับ 비밀번호를', ['สวัสดี', '비밀번호']],
  ['Cyrillic', 'Пароль ёлка', ['пароль', 'ЁЛКА']],
])('finds %s', (_name, content, texts) => {
  const body = asked(content)
  const bits = sign(project, [Buffer.from(body)])?.bits ?? Buffer.alloc(0)
  for (const text of texts) {
    expect([text, mayMatch(bits, text), found(text, body) !== undefined]).toEqual([text, true, true])
  }
})

test.each([
  ['a part of a word', 'passwords', 'password'],
  ['words in another order', 'key the', '"the key"'],
  ['words of different texts as a phrase', asked('the'), '"user the"'],
  ['Chinese characters that stand apart', '天 气', '天气'],
])('does not find %s', (_name, content, text) => {
  expect(found(text, asked(content))).toBeUndefined()
})

test('reads arguments of tools, with their names, wherever JSON holds them', () => {
  const nested = JSON.stringify({ path: '/etc/passwd\nroot', deep: JSON.stringify({ note: 'line\nbreak' }) })
  const body = JSON.stringify({
    tool_calls: [{ function: { name: 'read', arguments: nested } }],
    content: [{ type: 'tool_use', input: { api_key: 'abc', count: 4711, list: [{ inner_name: true }] } }],
    input: [{ role_name: 1 }],
  })
  const texts = [...searchedTexts(body)]
  for (const text of ['passwd root', '"etc passwd root"', '"line break"', 'api_key', '4711', 'inner_name'])
    expect([text, found(text, body) !== undefined]).toEqual([text, true])
  expect(texts).not.toContain('role_name')
})

test('leaves out pictures, and reads what is no JSON as text', () => {
  const picture = `data:image/png;base64,${randomBytes(3_000).toString('base64')}`
  expect([...searchedTexts(JSON.stringify({ url: picture, alt: 'a cat' }))]).toEqual(['a cat'])
  expect([...searchedTexts('{"broken')]).toEqual(['{"broken'])
})

test('asks for every term, in one call but in any text of it', () => {
  const response = JSON.stringify({ choices: [{ message: { content: 'My password is hunter2.' } }] })
  expect(found('reset hunter2', asked('How do I reset it?'), response)).toEqual([
    { part: 'request', text: 'How do I reset it?', marks: [{ start: 9, end: 14 }] },
    { part: 'response', text: 'My password is hunter2.', marks: [{ start: 15, end: 22 }] },
  ])
  expect(found('reset missing', asked('How do I reset it?'), response)).toBeUndefined()
})

test('cuts an excerpt around what was found, between characters', () => {
  const long = `${'🙂 '.repeat(200)}needle ${'🙂 '.repeat(200)}`
  const [excerpt] = found('needle', asked(long)) ?? []
  expect(excerpt?.text.length).toBeLessThan(250)
  expect(excerpt?.text.isWellFormed()).toBe(true)
  expect(excerpt?.marks.map(({ start, end }) => excerpt.text.slice(start, end))).toEqual(['needle'])
})

test.each(['', '...', '" "', Array.from({ length: 11 }, (_, index) => `w${index}`).join(' ')])(
  'no search: %j',
  (text) => {
    expect(readSearch(text)).toBeUndefined()
  },
)

test('a signature has ten bits a word, at most 4 kB, and says nothing of a call with more', () => {
  const words = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`).join(' ')
  const bytes = (count: number) => sign(project, [Buffer.from(asked(words(count)))])?.bits.length
  // `user` is a word too.
  expect([bytes(0), bytes(199), bytes(3_275), bytes(3_276)]).toEqual([8, 250, maxSignatureBytes - 1, 0])
  expect(mayMatch(Buffer.alloc(0), 'anything')).toBe(true)
})

test('another project, key or word has other bits', () => {
  const hashes = [
    hash(project, 'word'),
    hash('prj_2', 'word'),
    hash(project, 'words'),
    createHashWord({ id: 's2', key: Buffer.alloc(32, 8) })(project, 'word'),
  ].map(String)
  expect(new Set(hashes).size).toBe(4)
  expect(createHashWord(key)(project, 'word')).toEqual(hash(project, 'word'))
})

test('without a key there is no signature', () => {
  expect(createSignCall([])(project, [Buffer.from(asked('x'))])).toBeNull()
})

// Each seed makes another call and asks for words, phrases and parts of it.
const alphabets = ['abcdeé', 'АБВгд', '天地人気', 'กขค', '가나다', 'ｶﾞABC12', '𝒜🙂x\u200b', 'ΣΑσς', 'ßSſ']
const separators = [' ', '\n', '-', '_', ', ', '\\', '"', '🙂']

function createRandom(seed: number) {
  let state = seed
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const pick = <T>(from: readonly T[]): T => from[next(from.length)] as T
  return { next, pick }
}

test.each(Array.from({ length: 300 }, (_, index) => index + 1))('no false negative: seed %i', (seed) => {
  const { next, pick } = createRandom(seed)
  const word = () => {
    const characters = Array.from(pick(alphabets))
    return Array.from({ length: 1 + next(6) }, () => pick(characters)).join('')
  }
  const words = Array.from({ length: 1 + next(40) }, word)
  const text = words.map((each) => `${each}${pick(separators)}`).join('')
  const body = pick([
    asked(text),
    JSON.stringify({ type: 'mcp_tool_call', arguments: { query: text } }),
    JSON.stringify({ function: { arguments: JSON.stringify({ deep: JSON.stringify([text]) }) } }),
  ])
  const bits = sign(project, [Buffer.from(body)])?.bits ?? Buffer.alloc(0)
  const first = next(words.length)
  const phrase = words.slice(first, first + 1 + next(3)).join(' ')
  for (const query of [phrase, `"${phrase}"`, phrase.toUpperCase(), phrase.normalize('NFD'), word()]) {
    const isFound = readSearch(query) !== undefined && found(query, body) !== undefined
    // Whatever the signature denies is not there.
    if (isFound) expect([query, mayMatch(bits, query)]).toEqual([query, true])
  }
  if (readSearch(phrase) !== undefined)
    expect([phrase, found(phrase, body) !== undefined]).toEqual([phrase, true])
})

test('the text of a search folds as its words do', () => {
  for (const word of ['İstanbul', 'ǅ', 'ﬀ', '①②', 'ΐ', 'ẞ', '㍿']) {
    const [once] = unitsOf(word).values
    expect(unitsOf(once ?? '').values).toEqual(unitsOf(word).values.slice(0, 1))
  }
})
