import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { Mistral } from '@mistralai/mistralai'
import { CohereClient, CohereClientV2 } from 'cohere-ai'
import type OpenAI from 'openai'
import { said } from './testing/answers.ts'
import { joined, startProviderFixture, user, type ProviderFixture } from './testing/provider-fixture.ts'

/** The providers' official clients, wrapped, against a server that speaks their protocols. */
let fixture: ProviderFixture

beforeAll(async () => {
  fixture = await startProviderFixture()
})
beforeEach(() => fixture.clear())
afterAll(() => fixture.stop())

const mistral = () => new Mistral({ apiKey: 'k', serverURL: fixture.provider.url })
const cohere = () => new CohereClientV2({ token: 'k', environment: fixture.provider.url })
const cohereFirst = () => new CohereClient({ token: 'k', environment: fixture.provider.url })
const google = () =>
  new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: fixture.provider.url, fetch: ownFetch } })
/**
 * Otherwise Google's client needs Node's dispatcher, which Jest's globals lack. package.test.ts does without.
 */
const ownFetch = (input: string | URL | Request, init?: RequestInit) => fetch(input, init)

/**
 * Name, a call of a wrapped client that returns the answer's text, and the text's path in the recorded
 * answer.
 */
const calls: readonly [string, () => Promise<string>, (answer: unknown) => unknown][] = [
  [
    'OpenAI',
    async () =>
      (await fixture.sluice.wrap(fixture.openAi()).chat.completions.create({ model: 'm', messages: user }))
        .choices[0]?.message.content ?? '',
    chatText,
  ],
  [
    'OpenAI, streamed',
    async () =>
      joined(
        await fixture.sluice
          .wrap(fixture.openAi())
          .chat.completions.create({ model: 'm', messages: user, stream: true }),
        (chunk) => chunk.choices[0]?.delta.content,
      ),
    chatText,
  ],
  [
    'OpenAI, a derived client',
    async () =>
      (
        await fixture.sluice
          .wrap(fixture.openAi())
          .withOptions({ timeout: 5_000 })
          .chat.completions.create({ model: 'm', messages: user })
      ).choices[0]?.message.content ?? '',
    chatText,
  ],
  [
    'Anthropic',
    async () =>
      textOfMessage(
        await fixture.sluice
          .wrap(fixture.anthropic())
          .messages.create({ model: 'm', max_tokens: 9, messages: user }),
      ),
    messageText,
  ],
  [
    'Anthropic, messages.stream',
    async () => {
      const stream = fixture.sluice
        .wrap(fixture.anthropic())
        .messages.stream({ model: 'm', max_tokens: 9, messages: user })
      let text = ''
      stream.on('text', (delta) => (text += delta))
      await stream.finalMessage()
      return text
    },
    messageText,
  ],
  [
    'Anthropic, withResponse',
    async () => {
      const { data, response } = await fixture.sluice
        .wrap(fixture.anthropic())
        .messages.create({ model: 'm', max_tokens: 9, messages: user })
        .withResponse()
      expect(response.status).toBe(200)
      expect(response.url).toBe(`${fixture.provider.url}/v1/messages`)
      return textOfMessage(data)
    },
    messageText,
  ],
  [
    'Cohere',
    async () => {
      const answer = await fixture.sluice.wrap(cohere()).chat({ model: 'm', messages: user })
      const part = answer.message.content?.[0]
      return part?.type === 'text' ? part.text : ''
    },
    cohereText,
  ],
  [
    'Cohere, streamed',
    async () =>
      joined(await fixture.sluice.wrap(cohere()).chatStream({ model: 'm', messages: user }), (part) =>
        part.type === 'content-delta' ? part.delta?.message?.content?.text : '',
      ),
    cohereText,
  ],
  [
    'Cohere, first chat',
    async () => (await fixture.sluice.wrap(cohereFirst()).chat({ message: 'Hi' })).text,
    (answer) => (answer as { text: string }).text,
  ],
  [
    'Cohere, first chat, streamed',
    async () =>
      joined(await fixture.sluice.wrap(cohereFirst()).chatStream({ message: 'Hi' }), (part) =>
        part.eventType === 'text-generation' ? part.text : '',
      ),
    (answer) => (answer as { text: string }).text,
  ],
  [
    'Google',
    async () =>
      (await fixture.sluice.wrap(google()).models.generateContent({ model: 'model-1', contents: 'Hi' }))
        .text ?? '',
    googleText,
  ],
  [
    'Google, streamed',
    async () =>
      joined(
        await fixture.sluice
          .wrap(google())
          .models.generateContentStream({ model: 'model-1', contents: 'Hi' }),
        (part) => part.text,
      ),
    googleText,
  ],
  [
    'Google, interactions',
    async () => {
      const client = google()
      expect(client.interactions).toBeDefined()
      const { output_text: text } = await fixture.sluice
        .wrap(client)
        .interactions.create({ model: 'model-1', input: 'Hi' })
      return text ?? ''
    },
    interactionText,
  ],
  [
    'Google, interactions, streamed',
    async () =>
      joined(
        await fixture.sluice
          .wrap(google())
          .interactions.create({ model: 'model-1', input: 'Hi', stream: true }),
        (event) => (event.event_type === 'step.delta' && event.delta.type === 'text' ? event.delta.text : ''),
      ),
    interactionText,
  ],
  [
    'Mistral',
    async () => {
      const content = (await fixture.sluice.wrap(mistral()).chat.complete({ model: 'm', messages: user }))
        .choices[0]?.message?.content
      return typeof content === 'string' ? content : ''
    },
    chatText,
  ],
  [
    'Mistral, streamed, wrapped after its first use',
    async () => {
      const client = mistral()
      await client.chat.complete({ model: 'm', messages: user })
      return joined(
        await fixture.sluice.wrap(client).chat.stream({ model: 'm', messages: user }),
        (event) => {
          const content = event.data.choices[0]?.delta.content
          return typeof content === 'string' ? content : ''
        },
      )
    },
    chatText,
  ],
  [
    'Mistral, a conversation',
    async () => {
      const conversations = fixture.sluice.wrap(mistral()).beta.conversations
      const { outputs } = await conversations.start({ model: 'm', inputs: 'Hi' })
      const said = outputs.find((entry) => 'content' in entry)
      return typeof said?.content === 'string' ? said.content : ''
    },
    conversationText,
  ],
  [
    'Mistral, a conversation gone back in, streamed',
    async () =>
      joined(
        await fixture.sluice.wrap(mistral()).beta.conversations.restartStream({
          conversationId: 'conv_1',
          conversationRestartStreamRequest: { inputs: 'Hi', fromEntryId: 'e1' },
        }),
        ({ data }) =>
          data.type === 'message.output.delta' && typeof data.content === 'string' ? data.content : '',
      ),
    conversationText,
  ],
]

test("OpenAI's conversations, which are kept and call no model, are not recorded", async () => {
  await fixture.sluice.wrap(fixture.openAi()).conversations.create({ items: [] })
  expect(await fixture.recorded()).toEqual([])
})

test.each(calls)(
  '%s: the program gets its answer, and one record holds what went over the wire',
  async (name, call, textIn) => {
    expect(await call()).toBe(said)
    const [record, ...others] = await fixture.recorded()
    expect(others).toEqual([])
    expect(record).toMatchObject({ source: 'sdk', agent_name: 'tester', status_code: 200 })
    expect(record?.id).toMatch(/^req_/)
    expect(record?.['request_body']).toEqual(fixture.provider.seen.at(-1)?.body)
    expect(textIn(record?.['response_body'])).toBe(said)
    expect(record).not.toHaveProperty('error')
    expect(record).not.toHaveProperty('aborted_by')
    expect(typeof record?.['time_to_first_token_ms']).toBe(name.includes('stream') ? 'number' : 'undefined')
    if (name.startsWith('Google') && !name.includes('interactions')) expect(record?.['model']).toBe('model-1')
  },
)

function chatText(answer: unknown) {
  return (answer as OpenAI.ChatCompletion).choices[0]?.message.content
}
function messageText(answer: unknown) {
  return textOfMessage(answer as Anthropic.Message)
}
function textOfMessage({ content: [part] }: Anthropic.Message) {
  return part?.type === 'text' ? part.text : ''
}
function cohereText(answer: unknown) {
  return (answer as { message: { content: { text: string }[] } }).message.content[0]?.text
}
function interactionText(answer: unknown) {
  return (answer as { steps: { content: { text: string }[] }[] }).steps[0]?.content[0]?.text
}
function conversationText(answer: unknown) {
  const { outputs } = answer as { outputs: { type: string; content: string; arguments: string }[] }
  expect(outputs[1]).toMatchObject({ type: 'function.call', arguments: '{"x":1}' })
  return outputs[0]?.content
}
function googleText(answer: unknown) {
  const { candidates } = answer as { candidates: { content: { parts: { text: string }[] } }[] }
  return candidates[0]?.content.parts[0]?.text
}
