import type { JsonObject } from '#capture/json.ts'
import { newId } from '#schemas/ids.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { FinishedCall } from '../recording/build-record.ts'
import type { CaptureBudget } from '../recording/capture-budget.ts'
import type { CapturedBytes } from '../recording/captured-body.ts'
import { CapturedCall } from '../recording/captured-call.ts'
import type { Recorder } from '../recording/recorder.ts'

/** What the records of a socket have in common; read for each, as keys and settings may change. */
export type SocketContext = Pick<FinishedCall, 'caller' | 'path' | 'upstream' | 'labels' | 'trace'>

export interface ResponseDependencies {
  recorder: Recorder
  metrics: Pick<GatewayMetrics, 'cut' | 'aborted'>
  budget: CaptureBudget
  maxBodyBytes: number
  now: () => number
  context: () => SocketContext
  /** For the record of the first response: the application knows it from the handshake. */
  firstId: string
}

/** How a response ended before its time. */
export interface BrokenOff {
  by: 'client' | 'upstream'
  error: string
}

/** Makes the request's JSON when the response is recorded, and frees what it holds. */
export interface HeldRequest {
  bytes(): CapturedBytes
  release(): void
}

const streamType = { contentType: 'text/event-stream', contentEncoding: '' }
const [start, end] = [Buffer.from('data: '), Buffer.from('\n\n')]
const lineBreaks = /[\r\n]/g

/**
 * A response under way. Its events are kept as the event stream that the provider would send over HTTP, and
 * recorded the same way.
 */
export class OpenResponse {
  readonly #captured: CapturedCall
  readonly begunMs = performance.now()
  readonly id: string
  /** Undefined: the request is what `asked` was given. */
  held: HeldRequest | undefined
  /** Of the record: that of HTTP, where the provider's error names one. */
  status = 200
  sessionId: string | undefined

  constructor(id: string, { budget, maxBodyBytes }: ResponseDependencies) {
    this.id = id
    this.#captured = new CapturedCall(budget, maxBodyBytes)
    this.#captured.answers(streamType)
  }

  /** The message that asks for it. */
  asked(bytes: Buffer): void {
    // The reader's bytes are valid only now.
    this.#captured.request.add(Buffer.from(bytes))
  }

  /** One of its events: JSON text. */
  answered(bytes: Buffer): void {
    const isPlain = bytes.indexOf(0x0a) === -1 && bytes.indexOf(0x0d) === -1
    const line = isPlain ? bytes : Buffer.from(bytes.toString('utf8').replaceAll(lineBreaks, ' '))
    this.#captured.answered(Buffer.concat([start, line, end]), performance.now() - this.begunMs)
  }

  answeredWith(event: JsonObject): void {
    this.answered(Buffer.from(JSON.stringify(event)))
  }

  /** Resolves when it is on disk. */
  record(broken: BrokenOff | null, dependencies: ResponseDependencies): Promise<void> {
    const { recorder, metrics, context } = dependencies
    const captured = this.#captured
    for (const cut of captured.cuts()) metrics.cut(cut)
    if (broken !== null) metrics.aborted(broken.by)
    const { labels, ...common } = context()
    const call: FinishedCall = {
      ...common,
      id: this.id,
      labels: this.sessionId === undefined ? labels : { session_id: this.sessionId, ...labels },
      request: this.held?.bytes() ?? captured.request.bytes(),
      requestEncoding: '',
      answer: { ...streamType, ...captured.answer.bytes() },
      status: this.status,
      latencyMs: performance.now() - this.begunMs,
      arrivals: captured.arrivals,
      abortedBy: broken?.by ?? null,
      error: broken?.error ?? null,
    }
    return recorder(call, () => {
      captured.release()
      this.held?.release()
    })
  }
}

/** Begins and records the responses of one socket. */
export function createResponses(dependencies: ResponseDependencies) {
  const open = new Set<OpenResponse>()
  const writing = new Set<Promise<void>>()
  let id: string | undefined = dependencies.firstId
  const finish = (response: OpenResponse, broken: BrokenOff | null) => {
    if (!open.delete(response)) return
    const written = response.record(broken, dependencies)
    writing.add(written)
    void written.then(() => writing.delete(written))
  }
  return {
    begin(): OpenResponse {
      const response = new OpenResponse(id ?? newId('request', dependencies.now()), dependencies)
      id = undefined
      open.add(response)
      return response
    },
    end: (response: OpenResponse) => finish(response, null),
    isIdle: () => open.size === 0,
    /** Records those that have no end. Resolves when all are on disk. */
    async breakOff(broken: BrokenOff): Promise<void> {
      for (const response of open) finish(response, broken)
      await Promise.all(writing)
    },
  }
}

export type Responses = ReturnType<typeof createResponses>
