import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes, type BenchProcess } from './bench-process.ts'
import { proxyKey } from './gateway-bench.ts'
import type { RecordCount } from './record-counter.ts'
import { startGatewayProcess } from './start-gateway-process.ts'
import { until } from './until.ts'

const bodies = 200
const bodyBytes = 10 * 1024 * 1024
const atOnce = 32
/** Two intervals of return-memory.ts. */
const idleMs = 12_000

/** Resident megabytes of an idle gateway after it has passed on 200 bodies of 10 MB. */
export async function residentAfterLarge(providerUrl: string, receiver: BenchProcess): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-bench-large-'))
  const gateway = await startGatewayProcess({
    directory,
    providerUrl,
    receiverUrl: receiver.url,
    environment: {
      LOG_LEVEL: 'warn',
      PROXY_API_KEY: proxyKey,
      SPOOL_KEY: Buffer.alloc(32, 5).toString('base64'),
    },
  })
  try {
    const { distinct } = await receiver.ask<RecordCount>({})
    let left = bodies
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (left-- > 0) await callWith(gateway.url)
      }),
    )
    await until(async () => (await receiver.ask<RecordCount>({})).distinct >= distinct + bodies)
    await sleep(idleMs)
    return Math.round(residentBytes(gateway.pid()) / 2 ** 20)
  } finally {
    await gateway.stop()
    await rm(directory, { recursive: true })
  }
}

const headers = { 'content-type': 'application/json', authorization: `Bearer ${proxyKey}` }
const body = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: 'words '.repeat(bodyBytes / 6) }],
})

async function callWith(url: string): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`a large body was answered ${response.status}`)
}
