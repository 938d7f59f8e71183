import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { Mistral } from '@mistralai/mistralai'
import { CohereClient, CohereClientV2 } from 'cohere-ai'
import OpenAI from 'openai'
import {
  startRecordReceiver,
  type PostedRecord,
  type RecordReceiver,
} from '../../tests/support/record-receiver.ts'
import { createClient } from '../create-client.ts'
import type { SluiceClient, SluiceOptions } from '../types.ts'
import { startProtocolServer, type ProtocolServer } from './protocol-server.ts'

/** A provider of every protocol, an API that takes records, and the official clients that call the provider. */
export interface ProviderStage {
  provider: ProtocolServer
  receiver: RecordReceiver
  sluice: SluiceClient
  /** Another client for the same API. */
  another(options: SluiceOptions): SluiceClient
  /** What the API has been sent when all is sent, in the order of the calls. */
  recorded(client?: SluiceClient): Promise<PostedRecord[]>
  openAi(): OpenAI
  anthropic(): Anthropic
  mistral(): Mistral
  google(): GoogleGenAI
  cohere(): CohereClientV2
  cohereFirst(): CohereClient
  clear(): void
  stop(): Promise<void>
}

export const user = [{ role: 'user' as const, content: 'Hi' }]

export async function startProviderStage(): Promise<ProviderStage> {
  const [provider, receiver] = await Promise.all([startProtocolServer(), startRecordReceiver()])
  const another = (options: SluiceOptions) =>
    createClient({ apiKey: 'svc_test', baseUrl: receiver.url, agentName: 'tester', ...options })
  const sluice = another({})
  return {
    provider,
    receiver,
    sluice,
    another,
    async recorded(client = sluice) {
      if (!(await client.flush(30_000))) throw new Error('the records could not be sent')
      return [...receiver.taken].sort((a, b) => a.id.localeCompare(b.id))
    },
    openAi: () => new OpenAI({ apiKey: 'k', baseURL: `${provider.url}/v1`, maxRetries: 2 }),
    anthropic: () => new Anthropic({ apiKey: 'k', baseURL: provider.url, maxRetries: 2 }),
    mistral: () => new Mistral({ apiKey: 'k', serverURL: provider.url }),
    google: () => new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: provider.url, fetch: ownFetch } }),
    cohere: () => new CohereClientV2({ token: 'k', environment: provider.url }),
    cohereFirst: () => new CohereClient({ token: 'k', environment: provider.url }),
    clear() {
      receiver.taken.length = 0
      provider.seen.length = 0
    },
    async stop() {
      await sluice.shutdown()
      await Promise.all([provider.stop(), receiver.stop()])
    },
  }
}

/** Without one, Google's client looks for Node's dispatcher, which jest's globals lack. package.test.ts does without. */
const ownFetch = (input: string | URL | Request, init?: RequestInit) => fetch(input, init)

export async function joined<T>(
  stream: AsyncIterable<T>,
  textOf: (part: T) => string | null | undefined,
): Promise<string> {
  let text = ''
  for await (const part of stream) text += textOf(part) ?? ''
  return text
}
