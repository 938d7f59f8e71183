import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import {
  startRecordReceiver,
  type PostedRecord,
  type RecordReceiver,
} from '../../../tests/support/record-receiver.ts'
import { createClient } from '../create-client.ts'
import type { SluiceClient, SluiceOptions } from '../types.ts'
import { startProtocolServer, type ProtocolServer } from './protocol-server.ts'

/** A provider of every protocol, an API that accepts records, and the official clients used by most tests. */
export interface ProviderFixture {
  provider: ProtocolServer
  receiver: RecordReceiver
  sluice: SluiceClient
  /** Another client for the same API. */
  another(options: SluiceOptions): SluiceClient
  /** All records after a flush, in the order of the calls. */
  recorded(client?: SluiceClient): Promise<PostedRecord[]>
  openAi(): OpenAI
  anthropic(): Anthropic
  clear(): void
  stop(): Promise<void>
}

export const user = [{ role: 'user' as const, content: 'Hi' }]

export async function startProviderFixture(): Promise<ProviderFixture> {
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

export async function joined<T>(
  stream: AsyncIterable<T>,
  textOf: (part: T) => string | null | undefined,
): Promise<string> {
  let text = ''
  for await (const part of stream) text += textOf(part) ?? ''
  return text
}
