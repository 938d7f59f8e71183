import { createHash } from 'node:crypto'
import { expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { allTexts } from '../all-texts.ts'
import { Base64Filter } from './base64-filter.ts'
import { boundaryOf, FormReader } from './form-reader.ts'

const png = Buffer.concat([Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'), Buffer.alloc(3_001, 7)])
const described = (bytes: Buffer, media: string, type: string | null) => ({
  media,
  media_type: type,
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
})

function inPieces(bytes: Buffer, sizes: readonly number[], push: (piece: Buffer) => void): void {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    push(bytes.subarray(at, at + size))
    at += size
  }
}
const sizesArbitrary = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 9 })

async function formOf(entries: readonly (readonly [string, string | File])[]) {
  const form = new FormData()
  for (const [name, value] of entries) form.append(name, value)
  const request = new Request('http://h/', { method: 'POST', body: form })
  const boundary = boundaryOf(request.headers.get('content-type') ?? '') ?? ''
  return { boundary, bytes: Buffer.from(await request.arrayBuffer()) }
}

test('a form is read however it arrives: fields as text, files by kind, length and hash', async () => {
  const { boundary, bytes } = await formOf([
    ['model', 'whisper-1'],
    ['prompt', 'Zwei Wörter\r\n--und mehr'],
    ['image[]', new File([png], 'a "b".png', { type: 'image/png' })],
    ['image[]', new File([png.subarray(9)], 'c', { type: 'application/octet-stream' })],
    ['empty', ''],
  ])
  fc.assert(
    fc.property(sizesArbitrary, (sizes) => {
      const form = new FormReader(boundary, () => true)
      inPieces(bytes, sizes, (piece) => form.push(piece))
      expect(JSON.parse(form.json().toString())).toEqual({
        ...{ model: 'whisper-1', prompt: 'Zwei Wörter\r\n--und mehr', empty: '' },
        'image[]': [
          { ...described(png, 'image', 'image/png'), filename: 'a %22b%22.png' },
          { ...described(png.subarray(9), 'file', 'application/octet-stream'), filename: 'c' },
        ],
      })
    }),
    { numRuns: 40 },
  )
})

test('a form that breaks off, or beyond its memory, says so and keeps what came', async () => {
  const { boundary, bytes } = await formOf([
    ['prompt', 'some words'],
    ['other', 'x'.repeat(9_000)],
  ])
  const short = new FormReader(boundary, () => true)
  short.push(bytes.subarray(0, bytes.indexOf('xxx') + 500))
  expect(JSON.parse(short.json().toString())).toMatchObject({ prompt: 'some words', truncated: true })
  const poor = new FormReader(boundary, (byteLength) => byteLength < 2_000)
  poor.push(bytes)
  expect(JSON.parse(poor.json().toString())).toEqual({ prompt: 'some words', other: '', truncated: true })
})

test.each([
  ['base64', png.toString('base64'), described(png, 'image', 'image/png')],
  ['a data URL', `data:image/webp;base64,${png.toString('base64')}`, described(png, 'image', 'image/webp')],
  [
    'base64 before words',
    `${png.toString('base64url')} and "words"`,
    [described(png, 'image', 'image/png'), ' and "words"'],
  ],
  ['short base64', 'QUJD', 'QUJD'],
  [
    'a long word of text',
    Buffer.from('words '.repeat(400)).toString('base64'),
    Buffer.from('words '.repeat(400)).toString('base64'),
  ],
  ['escapes', 'a\\"b"c\n', 'a\\"b"c\n'],
  ['a URL', 'data:text/plain,hello', 'data:text/plain,hello'],
])('%s in JSON', (_name, text, expected) => {
  const body = {
    created: 1,
    data: [{ b64_json: text, revised_prompt: 'A "cat"' }],
    usage: { total_tokens: 5 },
  }
  fc.assert(
    fc.property(sizesArbitrary, (sizes) => {
      const filter = new Base64Filter()
      const kept: Buffer[] = []
      inPieces(Buffer.from(JSON.stringify(body)), sizes, (piece) => kept.push(filter.push(piece)))
      kept.push(filter.end())
      expect(JSON.parse(Buffer.concat(kept).toString())).toEqual({
        ...body,
        data: [{ b64_json: expected, revised_prompt: 'A "cat"' }],
      })
    }),
    { numRuns: 25 },
  )
})

test('of media, only the name of a file is text', () => {
  expect(
    allTexts({ file: { ...described(png, 'image', 'image/png'), filename: 'Ada.png' }, prompt: 'hi' }),
  ).toEqual(['Ada.png', 'hi'])
})
