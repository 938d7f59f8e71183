import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { AIMessageChunk } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, jsonSchema, streamText, type LanguageModel, type ToolSet } from 'ai'
import { Ollama } from 'ollama'
import { user } from './provider-fixture.ts'

/** The words and the tools that the program got. */
export interface Got {
  text: string
  tools: unknown[]
}

/** Where a client calls, and by which fetch. */
export interface Address {
  url: string
  fetch: typeof fetch
}

export interface FrameworkCall {
  client: string
  /** What ingest finds in its record. */
  tells: object
  ask: (streamed: boolean, address: Address) => Promise<Got>
}

const parameters = { type: 'object' as const, properties: { x: { type: 'number' } } }
const described = { name: 'look_up', description: 'Looks x up', parameters }
const openAiTools = [{ type: 'function' as const, function: described }]
const aiTools: ToolSet = { look_up: { description: 'Looks x up', inputSchema: jsonSchema(parameters) } }

/** Vercel's AI SDK with the model of one of its providers. */
function aiSdk(modelOf: (address: Address) => LanguageModel): FrameworkCall['ask'] {
  return async (streamed, address) => {
    const asked = { model: modelOf(address), messages: user, tools: aiTools, maxRetries: 0 }
    const answer = streamed ? streamText(asked) : await generateText(asked)
    const calls = await answer.toolCalls
    return { text: await answer.text, tools: calls.map(({ toolName, input }): unknown => [toolName, input]) }
  }
}

function openAiOf({ url, fetch }: Address) {
  return createOpenAI({ apiKey: 'k', baseURL: `${url}/v1`, fetch })
}

async function langChain(streamed: boolean, { url, fetch }: Address): Promise<Got> {
  const configuration = { baseURL: `${url}/v1`, fetch }
  const chat = new ChatOpenAI({ model: 'gpt-5-mini', apiKey: 'k', configuration, maxRetries: 0 })
  const model = chat.bindTools(openAiTools)
  if (!streamed) {
    const { text, tool_calls: calls = [] } = await model.invoke('Hi')
    return { text, tools: calls.map(({ name, args }) => [name, args]) }
  }
  let whole: AIMessageChunk | undefined
  for await (const chunk of await model.stream('Hi')) whole = whole?.concat(chunk) ?? chunk
  return { text: whole?.text ?? '', tools: (whole?.tool_calls ?? []).map(({ name, args }) => [name, args]) }
}

async function ollama(streamed: boolean, { url, fetch }: Address): Promise<Got> {
  const client = new Ollama({ host: url, fetch })
  const asked = { model: 'llama3.2', messages: user, tools: openAiTools }
  const answers = streamed
    ? await client.chat({ ...asked, stream: true })
    : [await client.chat({ ...asked, stream: false })]
  const got: Got = { text: '', tools: [] }
  for await (const { message } of answers) {
    got.text += message.content
    for (const { function: called } of message.tool_calls ?? [])
      got.tools.push([called.name, called.arguments])
  }
  return got
}

/** Code without any client: bytes, and a `Request`. */
async function plain(streamed: boolean, { url, fetch }: Address): Promise<Got> {
  const body = JSON.stringify({
    model: 'claude-sonnet-5',
    max_tokens: 9,
    messages: user,
    tools: [{ name: described.name, description: described.description, input_schema: parameters }],
    stream: streamed,
  })
  const request = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const address = `${url}/v1/messages`
  const response = streamed
    ? await fetch(new Request(address, { ...request, body }))
    : await fetch(address, { ...request, body: new TextEncoder().encode(body) })
  const pieces = [...(await response.text()).matchAll(/"text":"(.*?)"|"name":"(.*?)"/g)]
  const text = pieces.map(([, piece = '']) => piece).join('')
  return { text, tools: pieces.flatMap(([, , name]) => (name === undefined ? [] : [[name, { x: 1 }]])) }
}

const openAi = {
  model: 'gpt-5-mini-2025-08-07',
  provider: 'openai',
  prompt_tokens: 20,
  cached_tokens: 10,
  completion_tokens: 5,
  reasoning_tokens: 4,
}
const claude = {
  model: 'claude-sonnet-5',
  provider: 'anthropic',
  prompt_tokens: 20,
  cached_tokens: 10,
  completion_tokens: 9,
  reasoning_tokens: null,
}

/** Calls of real clients with a tool, to be answered by the protocol server. */
const frameworkCalls: readonly FrameworkCall[] = [
  {
    client: "AI SDK, OpenAI's responses",
    tells: openAi,
    ask: aiSdk((address) => openAiOf(address)('gpt-5-mini')),
  },
  {
    client: "AI SDK, OpenAI's chat",
    tells: openAi,
    ask: aiSdk((address) => openAiOf(address).chat('gpt-5-mini')),
  },
  {
    client: 'AI SDK, Anthropic',
    tells: claude,
    ask: aiSdk(({ url, fetch }) =>
      createAnthropic({ apiKey: 'k', baseURL: `${url}/v1`, fetch })('claude-sonnet-5'),
    ),
  },
  {
    client: 'AI SDK, Bedrock',
    tells: { ...claude, model: 'eu.amazon.nova-lite-v1:0', provider: 'bedrock' },
    ask: aiSdk(({ url, fetch }) =>
      createAmazonBedrock({ apiKey: 'k', region: 'eu-central-1', baseURL: url, fetch })(
        'eu.amazon.nova-lite-v1:0',
      ),
    ),
  },
  { client: 'LangChain.js', tells: openAi, ask: langChain },
  {
    client: 'Ollama',
    tells: { ...claude, model: 'llama3.2', provider: 'ollama', cached_tokens: null },
    ask: ollama,
  },
  { client: 'no client', tells: claude, ask: plain },
]

/** Each call plain and streamed, by its name. */
export const frameworkCases = frameworkCalls.flatMap((call) =>
  [false, true].map((streamed) => [`${call.client}${streamed ? ', streamed' : ''}`, streamed, call] as const),
)
