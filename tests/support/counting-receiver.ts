import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { TestCertificate } from './make-certificate.ts'

/** Times are of the receiver's monotonic clock. */
export interface Receipts {
  /** Requests that were answered 200. */
  count: number
  /** Connections that were made. */
  connections: number
  firstAtMs: number | null
  lastAtMs: number | null
  /** From an event's `created_at` to its receipt. */
  latenciesMs: number[]
  /** Requests that were answered 503, in their order. */
  refused: { id: string; receivedAtMs: number; answeredAtMs: number }[]
}

export type ReceiverOrder =
  | { kind: 'behave'; hanging: readonly string[]; failing: readonly string[] }
  | { kind: 'count' }
  | { kind: 'take' }

export interface CountingReceiver {
  /** `http://127.0.0.1:port`, or `https:` where it has a certificate. */
  url: string
  /** Paths that are never answered, and that are answered 503; requests that hang are let go. */
  behave(paths: { hanging?: readonly string[]; failing?: readonly string[] }): void
  count(): Promise<number>
  /** Everything since the last time. */
  take(): Promise<Receipts>
  /** Microseconds of processor time that it has taken. */
  cpu(): Promise<number>
  close(): Promise<void>
}

export interface ReceiverKind {
  /** Undefined: it speaks plain HTTP. */
  certificate?: TestCertificate | undefined
  /** Half as long to half as long again it takes to answer; 0: it answers at once. */
  answerMs?: number
}

/** A receiver that is as fast as they come and only counts, on a thread of its own. For benchmarks. */
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
