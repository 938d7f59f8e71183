import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { TestCertificate } from './make-certificate.ts'

/** Times are of the receiver's monotonic clock. */
export interface Receipts {
  /** Requests answered with 200. */
  count: number
  /** Connections opened. */
  connections: number
  firstAtMs: number | null
  lastAtMs: number | null
  /** From an event's `created_at` to its receipt. */
  latenciesMs: number[]
  /** Requests answered with 503, in order. */
  refused: { id: string; receivedAtMs: number; answeredAtMs: number }[]
}

export type ReceiverOrder =
  | { kind: 'behave'; hanging: readonly string[]; failing: readonly string[] }
  | { kind: 'count' }
  | { kind: 'take' }

export interface CountingReceiver {
  /** `http://127.0.0.1:port`, or `https:` where it has a certificate. */
  url: string
  /** Paths that hang and paths that answer 503. Requests that hang now are released. */
  behave(paths: { hanging?: readonly string[]; failing?: readonly string[] }): void
  count(): Promise<number>
  /** Everything since the last call of this. */
  take(): Promise<Receipts>
  /** CPU time used, in microseconds. */
  cpu(): Promise<number>
  close(): Promise<void>
}

export interface ReceiverKind {
  /** Undefined: plain HTTP. */
  certificate?: TestCertificate | undefined
  /** Mean time to answer, varying by half; 0: at once. */
  answerMs?: number
}

/** The fastest receiver we have: counts and answers, in its own thread. For benchmarks. */
export async function startCountingReceiver(kind: ReceiverKind = {}): Promise<CountingReceiver> {
  const thread = new Worker(new URL('counting-receiver-thread.ts', import.meta.url), {
    workerData: kind,
  })
  const [port] = (await once(thread, 'message')) as [number]
  const ask = async <T>(order: ReceiverOrder): Promise<T> => {
    const answer = once(thread, 'message') as Promise<[T]>
    thread.postMessage(order)
    return (await answer)[0]
  }
  return {
    url: `${kind.certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    behave: ({ hanging = [], failing = [] }) => thread.postMessage({ kind: 'behave', hanging, failing }),
    count: () => ask<number>({ kind: 'count' }),
    take: () => ask<Receipts>({ kind: 'take' }),
    async cpu() {
      const { user, system } = await thread.cpuUsage()
      return user + system
    },
    async close() {
      await thread.terminate()
    },
  }
}
