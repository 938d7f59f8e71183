import { setTimeout as sleep } from 'node:timers/promises'

export interface CallingClients {
  /** Identifiers of calls that were answered completely. */
  complete: ReadonlySet<string>
  /** Calls that were aborted or refused. */
  failed: () => number
  /** Starts no more calls; resolves when the current ones have ended. */
  stop(): Promise<void>
}

interface Calling {
  gatewayUrl: string
  proxyApiKey: string
  clients: number
  /** Pause of each client after a call. */
  pauseMs?: number
  /** Text that makes bodies longer. */
  padding?: () => string
}

/** Clients that keep calling while the gateway fails and restarts. Every other call is streamed. */
export function startCalling({
  gatewayUrl,
  proxyApiKey,
  clients,
  pauseMs = 0,
  padding = () => '',
}: Calling): CallingClients {
  const complete = new Set<string>()
  let failed = 0
  let isOver = false
  const call = async (content: string, stream: boolean) => {
    try {
      const response = await fetch(`${gatewayUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${proxyApiKey}` },
        body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content }] }),
      })
      await response.text()
      if (response.status === 200) complete.add(response.headers.get('x-service-request-id') ?? '')
      else failed++
    } catch (error) {
      // The gateway was killed during this call. Compared by name: fetch throws the TypeError of another
      // realm.
      if ((error as Error).name !== 'TypeError') throw error
      failed++
      await sleep(50)
    }
  }
  const client = async (number: number) => {
    for (let count = 0; !isOver; count++) {
      await call(`client ${number} call ${count} ${padding()}`, count % 2 === 0)
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return {
    complete,
    failed: () => failed,
    async stop() {
      isOver = true
      await running
    },
  }
}
