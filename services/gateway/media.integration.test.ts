import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import OpenAI from 'openai'
import { useGateway } from '#tests/support/gateway-fixture.ts'
import { sized } from '#tests/support/raw-upstream.ts'
import { proxyKey } from '#tests/support/start-gateway.ts'
import { until } from '#tests/support/until.ts'

const gateway = useGateway()
const sound = Buffer.concat([
  Buffer.from('ID3'),
  Buffer.alloc(6 * 1024 * 1024, Buffer.from([1, 0, 200, 7, 150])),
])
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const client = () => new OpenAI({ apiKey: proxyKey, baseURL: `${gateway.gateway.url}/v1`, maxRetries: 0 })

function onlyRecord() {
  const count = gateway.receiver.taken.length
  return async () => {
    await until(() => gateway.receiver.taken.length > count)
    return gateway.receiver.taken[count]
  }
}

test('a transcription: the form passes byte for byte; words, model and tokens are recorded, not the sound', async () => {
  const usage = { type: 'tokens', input_tokens: 14, output_tokens: 45, total_tokens: 59 }
  gateway.upstream.answer(
    sized('200 OK', ['Content-Type: application/json'], JSON.stringify({ text: 'My name is Ada.', usage })),
  )
  const record = onlyRecord()
  const answer = await client().audio.transcriptions.create({
    ...{ model: 'gpt-4o-transcribe', prompt: 'An introduction' },
    file: new File([sound], 'ada.mp3', { type: 'audio/mpeg' }),
  })
  expect(answer.text).toBe('My name is Ada.')
  expect(gateway.upstream.requests[0]?.body.includes(sound)).toBe(true)
  expect(await record()).toMatchObject({
    request_body: {
      ...{ model: 'gpt-4o-transcribe', prompt: 'An introduction' },
      file: {
        ...{ media: 'audio', media_type: 'audio/mpeg', filename: 'ada.mp3' },
        ...{ bytes: sound.length, sha256: hashOf(sound) },
      },
    },
    response_body: { text: 'My name is Ada.', usage },
  })
})

test('speech: the answer passes, and is recorded by kind, length and hash', async () => {
  gateway.upstream.answer(sized('200 OK', ['Content-Type: audio/mpeg'], sound))
  const record = onlyRecord()
  const answer = await client().audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Good day' })
  expect(hashOf(Buffer.from(await answer.arrayBuffer()))).toBe(hashOf(sound))
  expect(await record()).toMatchObject({
    request_body: { model: 'tts-1', input: 'Good day' },
    response_body: { media: 'audio', media_type: 'audio/mpeg', bytes: sound.length, sha256: hashOf(sound) },
  })
})

test.each([
  ['plain', (body: Buffer) => body, []],
  ['compressed', gzipSync, ['Content-Encoding: gzip']],
])(
  'an image in a %s answer longer than a record: prompt and usage are kept, not the picture',
  async (_name, encode, more) => {
    const usage = { input_tokens: 9, output_tokens: 272, total_tokens: 281 }
    const data = [{ b64_json: sound.toString('base64'), revised_prompt: 'A calm cat' }]
    const body = encode(Buffer.from(JSON.stringify({ created: 1, data, usage })))
    gateway.upstream.answer(sized('200 OK', ['Content-Type: application/json', ...more], body))
    const record = onlyRecord()
    await client().images.generate({ model: 'gpt-image-1', prompt: 'A cat' })
    expect(await record()).toMatchObject({
      request_body: { model: 'gpt-image-1', prompt: 'A cat' },
      response_body: {
        data: [
          {
            b64_json: { media: 'audio', bytes: sound.length, sha256: hashOf(sound) },
            revised_prompt: 'A calm cat',
          },
        ],
        usage,
      },
    })
  },
)
