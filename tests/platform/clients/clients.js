/**
 * Has every conversation of one client with the gateway, and prints what the client made of each answer.
 * Argument: the client. `CLIENT_URL` is the gateway, `CLIENT_KEY` its key.
 */
const { CLIENT_URL: gateway, CLIENT_KEY: apiKey } = process.env
const question = 'How is the gate?'
const messages = [{ role: 'user', content: question }]

async function joined(stream, textOf) {
  let text = ''
  for await (const piece of stream) text += textOf(piece) ?? ''
  return text
}

const ofChat = (answer) => answer.choices[0].message.content
const ofChunk = (chunk) => chunk.choices[0]?.delta.content

/** Chat completions, as four clients have them. */
function chats(client, model) {
  return {
    chat: async () => ofChat(await client.chat.completions.create({ model, messages })),
    'chat, streamed': async () => {
      const asked = { model, messages, stream: true, stream_options: { include_usage: true } }
      return joined(await client.chat.completions.create(asked), ofChunk)
    },
  }
}

const clients = {
  async openai() {
    const { default: OpenAI } = await import('openai')
    const client = new OpenAI({ baseURL: `${gateway}/openai/v1`, apiKey, maxRetries: 0 })
    const model = 'gpt-4o-mini'
    return {
      ...chats(client, model),
      responses: async () => (await client.responses.create({ model, input: question })).output_text,
      'responses, streamed': async () =>
        joined(await client.responses.create({ model, input: question, stream: true }), (event) =>
          event.type === 'response.output_text.delta' ? event.delta : '',
        ),
      embeddings: async () => {
        const asked = { model: 'text-embedding-3-small', input: 'A gate', encoding_format: 'float' }
        return (await client.embeddings.create(asked)).data[0].embedding
      },
    }
  },
  async azure() {
    const { AzureOpenAI } = await import('openai')
    const model = 'gpt-4o-mini'
    const client = new AzureOpenAI({
      ...{ endpoint: `${gateway}/azure`, apiKey, apiVersion: '2024-10-21', deployment: model, maxRetries: 0 },
    })
    return chats(client, model)
  },
  async anthropic() {
    const { default: Anthropic } = await import('@anthropic-ai/sdk')
    const client = new Anthropic({ baseURL: `${gateway}/anthropic`, apiKey, maxRetries: 0 })
    const asked = { model: 'claude-sonnet-4-5', max_tokens: 100, messages }
    return {
      messages: async () => (await client.messages.create(asked)).content[0].text,
      'messages, streamed': async () => client.messages.stream(asked).finalText(),
    }
  },
  async gemini() {
    const { GoogleGenAI } = await import('@google/genai')
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${gateway}/gemini` } })
    return contents(client, 'gemini-2.5-flash')
  },
  async vertex() {
    const { GoogleGenAI } = await import('@google/genai')
    const client = new GoogleGenAI({
      ...{ vertexai: true, project: 'p', location: 'europe-west1' },
      httpOptions: { baseUrl: `${gateway}/vertex`, headers: { 'X-Service-Key': apiKey } },
      googleAuthOptions: { authClient: await googleAuth() },
    })
    return contents(client, 'gemini-2.5-flash')
  },
  async bedrock() {
    const aws = await import('@aws-sdk/client-bedrock-runtime')
    const { NodeHttpHandler } = await import('@smithy/node-http-handler')
    const client = new aws.BedrockRuntimeClient({
      ...{ region: 'eu-west-1', endpoint: `${gateway}/bedrock`, maxAttempts: 1 },
      // Its own speaks HTTP/2 without TLS, which the gateway does not.
      requestHandler: new NodeHttpHandler(),
      token: { token: apiKey },
      authSchemePreference: ['httpBearerAuth'],
    })
    const model = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
    const body = JSON.stringify({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 100, messages })
    const invoked = { modelId: model, body, contentType: 'application/json', accept: 'application/json' }
    const conversed = { modelId: model, messages: [{ role: 'user', content: [{ text: question }] }] }
    return {
      invoke: async () => {
        const answer = await client.send(new aws.InvokeModelCommand(invoked))
        return JSON.parse(new TextDecoder().decode(answer.body)).content[0].text
      },
      'invoke, streamed': async () => {
        const answer = await client.send(new aws.InvokeModelWithResponseStreamCommand(invoked))
        return joined(
          answer.body,
          ({ chunk }) => JSON.parse(new TextDecoder().decode(chunk.bytes)).delta?.text,
        )
      },
      converse: async () =>
        (await client.send(new aws.ConverseCommand(conversed))).output.message.content[0].text,
      'converse, streamed': async () => {
        const answer = await client.send(new aws.ConverseStreamCommand(conversed))
        return joined(answer.stream, (event) => event.contentBlockDelta?.delta.text)
      },
    }
  },
  async cohere() {
    const { CohereClientV2 } = await import('cohere-ai')
    const client = new CohereClientV2({ environment: `${gateway}/cohere`, token: apiKey, maxRetries: 0 })
    const model = 'command-a-03-2025'
    return {
      chat: async () => (await client.chat({ model, messages })).message.content[0].text,
      'chat, streamed': async () =>
        joined(await client.chatStream({ model, messages }), (event) =>
          event.type === 'content-delta' ? event.delta.message.content.text : '',
        ),
      embed: async () => {
        const asked = { model: 'embed-v4.0', texts: ['A gate'], inputType: 'search_query' }
        return (await client.embed({ ...asked, embeddingTypes: ['float'] })).embeddings.float[0]
      },
      rerank: async () =>
        (await client.rerank({ model: 'rerank-v3.5', query: question, documents: ['It is open.'] }))
          .results[0].relevanceScore,
    }
  },
  async mistral() {
    const { Mistral } = await import('@mistralai/mistralai')
    const client = new Mistral({ serverURL: `${gateway}/mistral`, apiKey })
    const model = 'mistral-small-latest'
    return {
      chat: async () => ofChat(await client.chat.complete({ model, messages })),
      'chat, streamed': async () =>
        joined(await client.chat.stream({ model, messages }), ({ data }) => ofChunk(data)),
      'fill in the middle': async () =>
        ofChat(await client.fim.complete({ model: 'codestral-latest', prompt: 'The gate', suffix: '.' })),
    }
  },
  async ollama() {
    const { Ollama } = await import('ollama')
    const client = new Ollama({ host: `${gateway}/ollama`, headers: { 'X-Service-Key': apiKey } })
    const model = 'llama3.2'
    return {
      chat: async () => (await client.chat({ model, messages })).message.content,
      'chat, streamed': async () =>
        joined(await client.chat({ model, messages, stream: true }), ({ message }) => message.content),
      generate: async () => (await client.generate({ model, prompt: question })).response,
      'generate, streamed': async () =>
        joined(await client.generate({ model, prompt: question, stream: true }), ({ response }) => response),
      embed: async () => (await client.embed({ model: 'nomic-embed-text', input: 'A gate' })).embeddings[0],
    }
  },
  async groq() {
    const { default: Groq } = await import('groq-sdk')
    const client = new Groq({ baseURL: `${gateway}/groq`, apiKey, maxRetries: 0 })
    return chats(client, 'llama-3.3-70b-versatile')
  },
  async together() {
    const { default: Together } = await import('together-ai')
    const client = new Together({ baseURL: `${gateway}/together/v1`, apiKey, maxRetries: 0 })
    return chats(client, 'meta-llama/Llama-3.3-70B-Instruct-Turbo')
  },
  async voyage() {
    const { VoyageAIClient } = await import('voyageai')
    const client = new VoyageAIClient({ environment: `${gateway}/voyage/v1`, apiKey, maxRetries: 0 })
    return {
      embed: async () => (await client.embed({ model: 'voyage-3.5', input: 'A gate' })).data[0].embedding,
      rerank: async () =>
        (await client.rerank({ model: 'rerank-2.5', query: question, documents: ['It is open.'] })).data[0]
          .relevanceScore,
    }
  },
}

/** Gemini's and Vertex AI's: one client for both. */
function contents(client, model) {
  return {
    generateContent: async () => (await client.models.generateContent({ model, contents: question })).text,
    'generateContent, streamed': async () =>
      joined(await client.models.generateContentStream({ model, contents: question }), ({ text }) => text),
    embedContent: async () => {
      const asked = { model: 'gemini-embedding-001', contents: 'A gate' }
      return (await client.models.embedContent(asked)).embeddings[0].values
    },
  }
}

/** A login at Google that needs no Google. */
async function googleAuth() {
  const { OAuth2Client } = await import('google-auth-library')
  const auth = new OAuth2Client()
  auth.setCredentials({ access_token: 'a-token-of-google', expiry_date: Date.now() + 3_600_000 })
  return auth
}

const conversations = await clients[process.argv[2]]()
const had = []
for (const [name, converse] of Object.entries(conversations)) {
  try {
    had.push({ name, said: await converse() })
  } catch (error) {
    had.push({ name, problem: String(error?.stack ?? error) })
  }
}
console.log(JSON.stringify(had))
