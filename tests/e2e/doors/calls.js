/**
 * Has the conversations of a file with one client, through one door, and prints when each began and ended.
 * Arguments: client, door, file. Doors: `gateway` (the plain client), `wrap`, `createFetch`, or an
 * instrumentation.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const [clientName, door, file] = process.argv.slice(2)
const { DOOR_URL: url, DOOR_KEY: apiKey, SLUICE_SDK: sdk } = process.env
const headers = door === 'gateway' ? { 'X-Service-Agent-Name': 'tester' } : {}

async function drained(stream) {
  for await (const chunk of stream) if (chunk === undefined) throw new Error('a chunk is missing')
}

const sluice = sdk === undefined ? undefined : await import(sdk)
sluice?.configure({ agentName: 'tester' })
const wrapped = (client) => (door === 'wrap' ? sluice.wrap(client) : client)
const recording = door === 'createFetch' ? { fetch: sluice.createFetch() } : {}

async function openai() {
  const { default: OpenAI } = await import('openai')
  const made = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey,
    maxRetries: 0,
    defaultHeaders: headers,
    ...recording,
  })
  const client =
    door === 'langfuse-openai' ? (await import('@langfuse/openai')).observeOpenAI(made) : wrapped(made)
  return async (asked) => {
    const answer = await client.chat.completions.create(asked)
    if (asked.stream) await drained(answer)
  }
}

async function anthropic() {
  const { default: Anthropic } = await import('@anthropic-ai/sdk')
  const client = wrapped(new Anthropic({ baseURL: url, apiKey, maxRetries: 0, defaultHeaders: headers }))
  return async (asked) => {
    const answer = await client.messages.create(asked)
    if (asked.stream) await drained(answer)
  }
}

async function google() {
  const { GoogleGenAI } = await import('@google/genai')
  const client = wrapped(new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url, headers } }))
  return async (asked, { isStream }) => {
    if (isStream) await drained(await client.models.generateContentStream(asked))
    else await client.models.generateContent(asked)
  }
}

async function langchain() {
  const { ChatOpenAI } = await import('@langchain/openai')
  const configuration = { baseURL: `${url}/v1`, defaultHeaders: headers, ...recording }
  return async ({ model, messages, tools, temperature, n }, { isStream }) => {
    const chat = new ChatOpenAI({ model, apiKey, configuration, maxRetries: 0, temperature, n })
    const bound = tools === undefined ? chat : chat.bindTools(tools)
    if (isStream) await drained(await bound.stream(messages))
    else await bound.invoke(messages)
  }
}

/** Vercel's messages of those of chat completions. */
function vercelMessage({ role, content, tool_calls: calls, tool_call_id: id }) {
  if (role === 'tool') {
    const output = { type: 'text', value: content }
    return { role, content: [{ type: 'tool-result', toolCallId: id, toolName: 'look_up', output }] }
  }
  if (calls !== undefined) {
    const parts = calls.map(({ id: toolCallId, function: { name, arguments: input } }) => ({
      ...{ type: 'tool-call', toolCallId, toolName: name },
      input: JSON.parse(input),
    }))
    return { role, content: parts }
  }
  if (typeof content === 'string') return { role, content }
  const parts = content.map((part) =>
    part.type === 'text' ? part : { type: 'image', image: part.image_url.url, mediaType: 'image/png' },
  )
  return { role, content: parts }
}

async function vercel() {
  const { createOpenAI } = await import('@ai-sdk/openai')
  const { generateText, jsonSchema, streamText } = await import('ai')
  const openAi = createOpenAI({ baseURL: `${url}/v1`, apiKey, headers, ...recording })
  return async ({ model, messages, tools, temperature }, { isStream }) => {
    const [system] = messages.filter(({ role }) => role === 'system')
    const listed = tools?.map(({ function: { name, description, parameters } }) => [
      name,
      { description, inputSchema: jsonSchema(parameters) },
    ])
    let failure
    const asked = {
      model: openAi.chat(model),
      messages: messages.filter(({ role }) => role !== 'system').map(vercelMessage),
      maxRetries: 0,
      temperature,
      ...(system !== undefined && { instructions: system.content }),
      ...(listed !== undefined && { tools: Object.fromEntries(listed) }),
      ...(integration !== undefined && { telemetry: { functionId: 'tester', integrations: [integration] } }),
    }
    if (!isStream) return void (await generateText(asked))
    await streamText({ ...asked, onError: ({ error }) => (failure = error) }).text
    if (failure !== undefined) throw failure
  }
}

/** Sets up the door; the result sends what is left. */
async function opened() {
  if (sluice !== undefined) return () => sluice.flush(30_000)
  if (door === 'gateway') return () => {}
  const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node')
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
  const processor = door.startsWith('langfuse')
    ? new (await import('@langfuse/otel')).LangfuseSpanProcessor()
    : new BatchSpanProcessor(new OTLPTraceExporter())
  const { detectResources, envDetector } = await import('@opentelemetry/resources')
  const resource = detectResources({ detectors: [envDetector] })
  const provider = new NodeTracerProvider({ resource, spanProcessors: [processor] })
  provider.register()
  if (clientName === 'vercel') {
    const { LegacyOpenTelemetry, OpenTelemetry } = await import('@ai-sdk/otel')
    integration = door === 'vercel-legacy' ? new LegacyOpenTelemetry() : new OpenTelemetry()
  }
  return () => provider.shutdown()
}

let integration
const finish = await opened()
const ask = await { openai, anthropic, google, langchain, vercel }[clientName]()
const times = []
for (const one of JSON.parse(await readFile(file, 'utf8'))) {
  const startMs = Date.now()
  let problem = null
  try {
    await ask(one.asked, one)
  } catch (error) {
    problem = String(error)
  }
  times.push({ name: one.name, startMs, endMs: performance.timeOrigin + performance.now(), problem })
  // Identifiers have milliseconds.
  await sleep(20)
}
await finish()
console.log(JSON.stringify(times))
