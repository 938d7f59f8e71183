import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientCall } from './client-call.ts'

interface Logged {
  /** The API and ingest, tried in turn. */
  urls: () => readonly string[]
  key: string
  prompt: string
  /** Ends the retries. */
  signal: AbortSignal
}

const timeoutMs = 15_000
const againMs = 1_000

/** Sends one call to ingest, under the same id until it is taken or refused. */
export async function logCall(call: ClientCall, { urls, key, prompt, signal }: Logged): Promise<void> {
  const body = JSON.stringify({
    id: call.id,
    model: 'gpt-4o-mini',
    agent_name: 'chaos',
    latency_ms: 200,
    request_body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: prompt }] },
    response_body: { choices: [{ index: 0, message: { role: 'assistant', content: 'Let me see.' } }] },
  })
  for (let attempt = call.id.charCodeAt(call.id.length - 1); !signal.aborted; attempt++) {
    const tried = urls()
    const url = `${tried[attempt % tried.length] ?? ''}/internal/log`
    const answer = await post(url, key, body)
    if (answer === 'taken' || answer === 'refused') {
      call.end = answer
      return
    }
    await sleep(againMs)
  }
}

async function post(url: string, key: string, body: string): Promise<'taken' | 'refused' | 'later'> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'x-service-key': key, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await response.text()
    if (response.status === 202) return 'taken'
    if (response.status === 429 && text.includes('INGEST_QUOTA_EXCEEDED')) return 'refused'
    if (response.status === 503) return 'later'
    throw new Error(`${url} answered ${response.status}: ${text.slice(0, 300)}`)
  } catch (error) {
    if (error instanceof TypeError || (error as Error).name === 'TimeoutError') return 'later'
    throw error
  }
}
