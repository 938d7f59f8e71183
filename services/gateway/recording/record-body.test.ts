import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { chunkOverheadBytes } from '#runtime/chunk-overhead.ts'
import { rethrow } from '../testing/rethrow.ts'
import { answerJson } from './answer-json.ts'
import { bodyJson, requestJson, type BodyJson } from './body-json.ts'
import { createCaptureBudget, createSharedBudget } from './capture-budget.ts'
import { CapturedBody } from './captured-body.ts'
import { CapturedCall } from './captured-call.ts'

const whole = (text: string | Buffer) => {
  const bytes = Buffer.from(text)
  return { bytes, byteLength: bytes.length, sha256: null }
}
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const limit = 1_000
const hiding = `{"a":${'['.repeat(201)}${']'.repeat(201)},"a":1}`

const read = (answer: Parameters<typeof answerJson>[0], maxBytes = limit) =>
  answerJson(answer, maxBytes, rethrow)

describe('a captured body', () => {
  const held = (...byteLengths: number[]) =>
    byteLengths.reduce((sum, byteLength) => sum + byteLength + chunkOverheadBytes, 0)

  function capture(chunks: string[], maxBytes: number, budgetBytes = held(1_000, 0, 0)) {
    const budget = createCaptureBudget(budgetBytes)
    const body = new CapturedBody(budget, maxBytes)
    for (const chunk of chunks) body.add(Buffer.from(chunk))
    return { budget, body, ...body.bytes() }
  }

  test('is whole within its bounds', () => {
    const { bytes, byteLength, sha256: hash } = capture(['ab', 'c'], 3)
    expect([bytes.toString(), byteLength, hash]).toEqual(['abc', 3, null])
  })

  test.each<[string, string[], number, number, string, string]>([
    ['over its own limit', ['abc', 'def', 'g'], 4, held(3, 3), 'abcd', 'body_limit'],
    ['over the limit of all', ['abc', 'def', 'g'], 100, held(3, 2), 'abc', 'total_limit'],
    [
      'in chunks that take more than their bytes',
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
      100,
      3 * held(1),
      'abc',
      'total_limit',
    ],
    ['in its first chunk', ['abcdefg'], 2, held(2), 'ab', 'body_limit'],
  ])('%s is cut; length and hash are of all of it', (_name, chunks, maxBytes, budgetBytes, kept, reason) => {
    const { body, bytes, byteLength, sha256: hash } = capture(chunks, maxBytes, budgetBytes)
    expect(bytes.toString()).toBe(kept)
    expect([byteLength, hash, body.cut]).toEqual([7, sha256('abcdefg'), reason])
  })

  test('gives back what it took, once', () => {
    const { body, budget } = capture(['abc', 'def'], 4)
    expect(budget.used()).toBe(held(3, 1))
    body.release()
    body.release()
    expect(budget.used()).toBe(0)
  })

  test.each([
    ['one has half of the budget', false, 10],
    ['of half of the budget each project takes as much as it leaves to others', true, 5],
  ])('beyond the length of others %s', (_name, isShared, most) => {
    const shared = createSharedBudget(20 * held(20), isShared)
    const captureOf = (project: string, chunks: number) => {
      const body = new CapturedBody(shared.of(project), 20)
      body.allow(400)
      for (let n = 0; n < chunks; n++) body.add(Buffer.alloc(20))
      return body
    }
    const long = captureOf('a', 1 + most)
    const others = [captureOf('a', 1), captureOf('b', 1), captureOf('a', 2)]
    expect([long, ...others].map(({ cut }) => cut)).toEqual([null, null, null, 'total_limit'])
    long.release()
    expect(captureOf('a', 1 + most).cut).toBeNull()
  })

  test('takes as much of what projects share as it leaves to others', () => {
    const shared = createSharedBudget(100, true)
    const [a, b] = [shared.of('a'), shared.of('b')]
    const granted = [a.acquire(40), a.acquire(11), shared.of('a').acquire(10), b.acquire(26), b.acquire(25)]
    expect(granted).toEqual([true, false, true, false, true])
    a.release(50)
    expect(a.used()).toBe(0)
    const grantedNext = [b.acquire(26), b.acquire(25), a.acquire(26), a.acquire(25)]
    expect(grantedNext).toEqual([false, true, false, true])
    const alone = createSharedBudget(100, false)
    expect([alone.of('a').acquire(100), alone.of('b').acquire(1)]).toEqual([true, false])
  })
})

describe('a body in a record', () => {
  test.each(['{}', ' {"a": 1.0, "a": 12345678901234567890, "\\u00e9":"\\u0000"}\n'])(
    'is its own bytes: %s',
    (text) => {
      expect(bodyJson(whole(text), limit).json.toString()).toBe(text)
    },
  )

  test.each<[string, string | Buffer, unknown]>([
    ['an array', '[1]', { raw: '[1]', encoding: 'utf8' }],
    ['a broken object', '{"a":', { raw: '{"a":', encoding: 'utf8' }],
    ['an object whose repeated name hides how deep it is', hiding, { raw: hiding, encoding: 'utf8' }],
    ['a byte order mark before no object', '\ufeff[]', { raw: '\ufeff[]', encoding: 'utf8' }],
    ['a text that is not UTF-8', Buffer.from('["\xff"]', 'latin1'), { raw: 'WyL/Il0=', encoding: 'base64' }],
  ])('wraps %s', (_name, body, expected) => {
    expect(JSON.parse(bodyJson(whole(body), limit).json.toString())).toEqual(expected)
  })

  const said = ' {"a":"\u00e9 \u6587 \u{1f600}"}'
  const utf16 = Buffer.from(said, 'utf16le')
  const utf32 = Buffer.concat(
    Array.from(said, (character) => Buffer.from(Uint32Array.of(character.codePointAt(0) ?? 0).buffer)),
  )
  const reversed = (bytes: Buffer, width: 16 | 32) =>
    width === 16 ? Buffer.from(bytes).swap16() : Buffer.from(bytes).swap32()
  test.each<[string, Buffer, string]>([
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${said}`), said],
    ['UTF-8 with bytes that are none', Buffer.from('{"a":"caf\xe9"}', 'latin1'), '{"a":"caf\ufffd"}'],
    ['UTF-16', utf16, said],
    ['UTF-16, big end first', reversed(utf16, 16), said],
    ['UTF-16 with its mark', Buffer.from(`\ufeff${said}`, 'utf16le'), said],
    ['UTF-32', utf32, said],
    ['UTF-32, big end first', reversed(utf32, 32), said],
  ])('is read as providers read it in %s', async (_name, bytes, text) => {
    expect(bodyJson(whole(bytes), limit)).toMatchObject({
      json: Buffer.from(text),
      value: JSON.parse(text) as object,
    })
    const cut = bodyJson({ bytes, byteLength: 9_999, sha256: 'ab' }, limit)
    expect(JSON.parse(cut.json.toString())).toEqual({ truncated: true, bytes: 9_999, sha256: 'ab', text })
    // Many providers ignore a wrong Content-Encoding.
    for (const coding of ['gzip', 'deflate', 'br', 'zstd'])
      expect((await requestJson(whole(bytes), coding, limit)).json.toString()).toBe(text)
  })

  test('is its text where parsing it would take many times its bytes; a list of vectors is no such thing', () => {
    const vectors = `{"data":[{"embedding":[${'0.5,'.repeat(300_000)}1]}]}`
    expect(bodyJson(whole(vectors), 4_000_000).json.toString()).toBe(vectors)
    const bomb = `{"a":[${'[],'.repeat(300_000)}1]}`
    expect(bodyJson(whole(bomb), 4_000_000)).toMatchObject({ value: undefined })
    expect(JSON.parse(bodyJson(whole(bomb), 4_000_000).json.toString())).toEqual({
      raw: bomb,
      encoding: 'utf8',
    })
  })

  test('brackets in its words make it no deeper', () => {
    const text = `{"a":[{"b":"${'['.repeat(300)}"}]}`
    expect(bodyJson(whole(text), limit).json.toString()).toBe(text)
  })

  test.each(['', ',"tool_name":"t"'])('a model call that calls itself a tool call (%s) is text', (more) => {
    const text = `{"type":"mcp_tool_call"${more},"messages":[]}`
    expect(JSON.parse((requestJson(whole(text), '', limit) as BodyJson).json.toString())).toEqual({
      raw: text,
      encoding: 'utf8',
    })
    const wide = Buffer.from(text, 'utf16le')
    expect(JSON.parse((requestJson(whole(wide), '', limit) as BodyJson).json.toString())).toEqual({
      raw: text,
      encoding: 'utf8',
    })
  })

  test.each(['\u0001'.repeat(900), '"'.repeat(990), '\u{1f600}'.repeat(240)])(
    'never grows beyond the limit',
    (text) => {
      const json = bodyJson(whole(text), limit).json
      expect(json.length).toBeLessThanOrEqual(limit)
      const parsed = JSON.parse(json.toString()) as { raw?: string; text?: string; sha256?: string }
      const kept = parsed.raw ?? parsed.text ?? ''
      expect(kept.length).toBeGreaterThan(0)
      expect(text.startsWith(kept) && kept.isWellFormed()).toBe(true)
      if (parsed.raw === undefined) expect(parsed.sha256).toBe(sha256(text))
    },
  )
})

describe('an answer in a record', () => {
  const stream = { contentType: 'text/event-stream; charset=utf-8', contentEncoding: '' }
  const event = 'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'

  test('a stream in a format that is not known stays text', async () => {
    const raw = 'data: hello\n\n'
    const { json, streamEnded } = await read({ ...whole(raw), ...stream })
    expect(JSON.parse(json.toString())).toEqual({ raw, encoding: 'utf8', joined: ['hello'] })
    expect(streamEnded).toBeUndefined()
  })

  test.each(['', 'text/plain'])(
    'a stream whose type is given as "%s" is the message that it amounts to',
    async (contentType) => {
      const answer = { ...whole(`\ufeff${event}data: [DONE]\n\n`), contentType, contentEncoding: '' }
      const value = { choices: [{ message: { content: 'x' } }] }
      expect(await read(answer)).toMatchObject({ streamEnded: true, value })
    },
  )

  test('a stream that amounts to too many parts is text', async () => {
    const logprobs = { content: Array(125_000).fill({ bytes: [] }) }
    const choices = [{ index: 0, delta: { content: 'x' }, logprobs }]
    const parts = JSON.stringify({ object: 'chat.completion.chunk', choices })
    const said = `data: ${parts}\n\ndata: [DONE]\n\n`
    const { json, value } = await read({ ...whole(said), ...stream }, 4_000_000)
    expect(value).toBeUndefined()
    expect(JSON.parse(json.toString())).toMatchObject({ encoding: 'utf8' })
  })

  test.each(['', 'gzip'])('a stream longer than a body may be is whole (%s)', async (contentEncoding) => {
    const said = event.repeat(20)
    const { answer } = captureStream(contentEncoding === '' ? Buffer.from(said) : gzipSync(said))
    const { value } = await read({ ...answer.bytes(), ...stream, contentEncoding })
    expect(value).toMatchObject({ choices: [{ message: { content: 'x'.repeat(20) } }] })
  })

  test('a stream is kept within eight times the bytes of a body', () => {
    expect(captureStream(Buffer.from(event.repeat(200))).answer.bytes()).toMatchObject({
      bytes: { length: 8 * limit },
      byteLength: event.length * 200,
    })
  })

  function captureStream(text: Buffer) {
    const call = new CapturedCall(createCaptureBudget(100 * limit), limit)
    call.answers({ contentType: 'text/event-stream', contentEncoding: '' })
    call.answer.add(text)
    return call
  }

  test('a stream that was cut says so, with what its start amounts to', async () => {
    const cut = { bytes: Buffer.from(event), byteLength: 9_999, sha256: 'ab' }
    const answer = await read({ ...cut, ...stream })
    const parsed = JSON.parse(answer.json.toString()) as { text: string }
    expect(parsed).toMatchObject({ truncated: true, bytes: 9_999, sha256: 'ab' })
    expect(parsed.text).toContain('"content":"x"')
  })

  const usage = '"usage":{"prompt_tokens":8}'
  test.each<[string, string, string, string]>([
    ['which says that it is not encoded', '', 'identity', ''],
    ['which says a coding that was not applied', '', 'gzip', ''],
    ['which says a coding that is not known', '', 'lzw', ''],
    ['which says that it is a stream', 'text/event-stream', '', ''],
    ['of a list', '', 'identity', '['],
  ])(
    'JSON longer than a body may be %s is cut, its tokens known',
    async (_name, contentType, contentEncoding, start) => {
      const said = `${start}{"a":"${'x'.repeat(3 * limit)}",${usage}}${start && ']'}`
      const { json, value, known } = await read({ ...whole(said), contentType, contentEncoding })
      expect(json.length).toBeLessThanOrEqual(limit)
      const cut = { truncated: true, bytes: said.length, sha256: sha256(said) }
      expect(JSON.parse(json.toString())).toMatchObject(cut)
      expect([value, known]).toEqual([undefined, { usage: { prompt_tokens: 8 } }])
    },
  )

  test('content in a coding that is not known is kept as bytes', async () => {
    const { json } = await read({
      ...whole(Buffer.from([0xff, 0xfe])),
      contentType: '',
      contentEncoding: 'lzw',
    })
    expect(JSON.parse(json.toString())).toEqual({ raw: '//4=', encoding: 'base64' })
  })
})
