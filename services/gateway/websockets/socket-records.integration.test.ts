import { once } from 'node:events'
import { GoogleGenAI, type LiveServerMessage } from '@google/genai'
import { expect, test } from '@jest/globals'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { WebSocket } from 'ws'
import { keyHeaders, useSockets } from '#tests/support/socket-fixture.ts'
import { afterHead, watchedConnection } from '#tests/support/socket-provider.ts'
import { proxyKey } from '#tests/support/start-gateway.ts'
import { until } from '#tests/support/until.ts'

const sockets = useSockets()

const usage = {
  input_tokens: 7,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens: 3,
  total_tokens: 10,
}
function answerAs(text: string) {
  const response = {
    id: 'resp_1',
    object: 'response',
    model: 'gpt-x-2026',
    status: 'in_progress',
    output: [],
  }
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }
  return [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'msg_1', delta: text },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
  ]
}

test('Responses over a compressed WebSocket: the same bytes both ways, and a record for each response', async () => {
  sockets.provider.onSocket((socket) =>
    socket.on('message', (data) => {
      const { input } = JSON.parse((data as Buffer).toString()) as { input: string }
      for (const event of answerAs(`You said ${input}`)) socket.send(JSON.stringify(event))
    }),
  )
  const before = sockets.provider.received().length
  const watched = watchedConnection(sockets.gateway.port)
  const client = new WebSocket(sockets.address('/v1/responses'), {
    headers: {
      ...keyHeaders,
      'x-service-agent-name': 'coder',
      'openai-beta': 'responses_websockets=2026-02-06',
    },
    createConnection: watched.createConnection,
  })
  await once(client, 'open')
  const completed = (text: string) =>
    new Promise<void>((resolve) => {
      client.on('message', (data) => (data as Buffer).includes('response.completed') && resolve())
      client.send(
        `{"type": "response.create", "model": "gpt-x", "input": "${text}", "n": 12345678901234567890}`,
      )
    })
  await completed('hello')
  await completed('hello again')
  client.close()
  const [first, second] = await sockets.records(2)

  expect(first).toMatchObject({
    ...{ source: 'gateway', agent_name: 'coder', status_code: 200, aborted_by: null, error: null },
    request_body: { type: 'response.create', model: 'gpt-x', input: 'hello' },
    response_body: { object: 'response', model: 'gpt-x-2026', usage },
  })
  expect(first?.['time_to_first_token_ms']).toEqual(expect.any(Number))
  expect(JSON.stringify(second?.['response_body'])).toContain('You said hello again')
  expect(first?.id).not.toBe(second?.id)
  expect(sockets.receiver.texts.join('')).toContain('"n": 12345678901234567890')
  // The provider's copy of the bytes begins with the gateway's handshake, the client's with its own.
  await until(() =>
    afterHead(sockets.provider.received()[before] as Buffer).equals(afterHead(watched.sent())),
  )
  const [handshake] = sockets.provider.handshakes
  expect(handshake?.headers).toMatchObject({
    authorization: 'Bearer provider-key',
    'openai-beta': 'responses_websockets=2026-02-06',
    'sec-websocket-extensions': expect.stringContaining('permessage-deflate'),
  })
  expect(handshake?.headers).not.toHaveProperty('x-service-agent-name')
  await until(async () => (await sockets.metric('sluice_gateway_websockets_open')).includes('open 0'))
  expect(await sockets.metric('sluice_gateway_websocket_messages_unread_total')).not.toMatch(/[1-9]$/m)
})

test("OpenAI's own Realtime client: the record has session, what was said, and the final response", async () => {
  const realtimeUsage = { input_tokens: 20, output_tokens: 9, input_token_details: { cached_tokens: 4 } }
  sockets.provider.onSocket((socket) => {
    const send = (event: object) => socket.send(JSON.stringify(event))
    const session = {
      ...{ id: 'sess_1', model: 'gpt-realtime', instructions: 'Be kind.' },
      audio: { input: { transcription: { model: 'whisper-1' } } },
    }
    send({ type: 'session.created', session })
    socket.on('message', (data) => {
      const event = JSON.parse((data as Buffer).toString()) as { type: string; item: object }
      if (event.type === 'conversation.item.create')
        send({ type: 'conversation.item.added', item: { ...event.item, id: 'item_1', status: 'completed' } })
      if (event.type === 'input_audio_buffer.commit')
        send({
          type: 'conversation.item.added',
          item: {
            id: 'item_2',
            type: 'message',
            role: 'user',
            content: [{ type: 'input_audio', transcript: null }],
          },
        })
      if (event.type !== 'response.create') return
      const item = { id: 'item_3', type: 'message', role: 'assistant' }
      const said = { ...item, content: [{ type: 'output_audio', transcript: 'Good day.' }] }
      const response = { id: 'resp_1', object: 'realtime.response', status: 'in_progress', output: [] }
      send({ type: 'response.created', response })
      send({ type: 'response.output_item.added', response_id: 'resp_1', output_index: 0, item })
      send({ type: 'conversation.item.added', item: { ...item, content: [] } })
      send({ type: 'response.output_audio.delta', response_id: 'resp_1', delta: 'A'.repeat(5_000) })
      send({
        type: 'response.output_audio_transcript.delta',
        response_id: 'resp_1',
        output_index: 0,
        delta: 'Good day.',
      })
      send({
        type: 'response.done',
        response: { ...response, status: 'completed', output: [said], usage: realtimeUsage },
      })
      send({
        type: 'conversation.item.input_audio_transcription.completed',
        ...{ item_id: 'item_2', content_index: 0, transcript: 'My name is Ada.' },
      })
    })
  })
  const client = new OpenAIRealtimeWS(
    {
      model: 'gpt-realtime',
      options: { createConnection: watchedConnection(sockets.gateway.port).createConnection },
    },
    new OpenAI({ apiKey: proxyKey, baseURL: `${sockets.gateway.url}/v1` }),
  )
  await once(client.socket, 'open')
  client.send({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Good morning' }] },
  })
  client.send({ type: 'input_audio_buffer.append', audio: 'B'.repeat(5_000) })
  client.send({ type: 'input_audio_buffer.commit' })
  await new Promise<void>((resolve) => {
    client.on('response.done', () => resolve())
    client.send({ type: 'response.create' })
  })
  const [record] = await sockets.records(1)
  client.close()

  expect(record).toMatchObject({
    session_id: 'sess_1',
    request_body: {
      ...{ model: 'gpt-realtime', instructions: 'Be kind.' },
      input: [
        { id: 'item_1', role: 'user', content: [{ type: 'input_text', text: 'Good morning' }] },
        { id: 'item_2', content: [{ type: 'input_audio', transcript: 'My name is Ada.' }] },
      ],
    },
    response_body: {
      object: 'realtime.response',
      output: [{ id: 'item_3', content: [{ transcript: 'Good day.' }] }],
      usage: realtimeUsage,
    },
  })
  expect(JSON.stringify(record)).not.toMatch(/A{1000}|B{1000}/)
})

test("Google's own Live client: a record for each turn, sound counted and not kept", async () => {
  const usageMetadata = { promptTokenCount: 11, responseTokenCount: 5, totalTokenCount: 16 }
  sockets.provider.onSocket((socket) =>
    socket.on('message', (data) => {
      const message = JSON.parse((data as Buffer).toString()) as Record<string, unknown>
      const send = (event: object) => socket.send(Buffer.from(JSON.stringify(event)))
      if ('setup' in message) send({ setupComplete: {} })
      if (!('clientContent' in message)) return
      send({ serverContent: { inputTranscription: { text: 'What time is it?' } } })
      const sound = { inlineData: { mimeType: 'audio/pcm', data: 'Q'.repeat(4_000) } }
      send({ serverContent: { modelTurn: { parts: [sound] }, outputTranscription: { text: 'It is ' } } })
      send({ toolCall: { functionCalls: [{ id: '1', name: 'clock', args: { zone: 'UTC' } }] } })
      send({ serverContent: { outputTranscription: { text: 'noon.' } } })
      send({ serverContent: { turnComplete: true }, usageMetadata })
    }),
  )
  // The client puts its key into the address; the provider's then comes from the gateway's credentials.
  const httpOptions = { baseUrl: sockets.gateway.url, headers: { 'x-goog-api-key': proxyKey } }
  const ai = new GoogleGenAI({ apiKey: 'none', httpOptions })
  const complete = Promise.withResolvers<undefined>()
  const session = await ai.live.connect({
    model: 'gemini-live-2.5',
    config: { systemInstruction: 'Be brief.', outputAudioTranscription: {} },
    callbacks: {
      onmessage: (message: LiveServerMessage) =>
        message.serverContent?.turnComplete === true && complete.resolve(undefined),
    },
  })
  session.sendRealtimeInput({ audio: { mimeType: 'audio/pcm', data: 'R'.repeat(4_000) } })
  session.sendClientContent({ turns: 'Hello there' })
  await complete.promise
  const [record] = await sockets.records(1)
  session.close()
  expect(record).toMatchObject({
    aborted_by: null,
    request_body: {
      model: 'models/gemini-live-2.5',
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hello there' }] },
        {
          role: 'user',
          parts: [{ inlineData: { mimeType: 'audio/pcm', bytes: 3_000 } }, { text: 'What time is it?' }],
        },
      ],
    },
    response_body: {
      candidates: [
        {
          finishReason: 'STOP',
          content: {
            parts: [
              { inlineData: { data: { media: 'audio', media_type: 'audio/pcm', bytes: 3_000 } } },
              { text: 'It is ' },
              { functionCall: { name: 'clock', args: { zone: 'UTC' } } },
              { text: 'noon.' },
            ],
          },
        },
      ],
      usageMetadata,
    },
  })
  expect(sockets.provider.handshakes[0]?.rawHeaders.join()).not.toContain(proxyKey)
})

test('a response without an end is recorded as broken off, with what came of it', async () => {
  sockets.provider.onSocket((socket) =>
    socket.on('message', () => {
      for (const event of answerAs('Half').slice(0, 3)) socket.send(JSON.stringify(event))
    }),
  )
  const client = new WebSocket(sockets.address('/v1/responses'), { headers: keyHeaders })
  await once(client, 'open')
  client.send('{"type":"response.create","model":"gpt-x","input":"hi"}')
  client.on('message', (data) => (data as Buffer).includes('delta') && client.terminate())
  const [record] = await sockets.records(1)
  expect(record).toMatchObject({
    ...{ aborted_by: 'client', error: 'the application closed its connection' },
    response_body: { truncated: true, output: [{ content: [{ text: 'Half' }] }] },
  })
})
