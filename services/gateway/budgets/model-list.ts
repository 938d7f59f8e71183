import type { ServerResponse } from 'node:http'
import { listOf, objectOf, parseJson, textOf, type JsonObject } from '#capture/json.ts'
import type { AnswerHead } from '#runtime/http1/answer-head.ts'
import type { AnswerHandler, Exchange } from '#runtime/http1/outgoing-call.ts'
import { listsModel } from '#schemas/key-limits.ts'
import { answerForFailure } from '../traffic/call-failures.ts'
import type { Permit } from '../traffic/call-queue.ts'
import type { ProxyDependencies } from '../traffic/forwarded-call.ts'
import { answerHeaders } from '../traffic/forwarded-headers.ts'
import { sendAnswer, type GatewayAnswer } from '../traffic/gateway-answer.ts'
import type { CallerLimits } from './caller-limits.ts'
import type { LiveCall } from '../traffic/live-calls.ts'
import type { Upstream } from '../upstreams/upstream.ts'

/** The models to list where a key with a list asks a provider for its models; otherwise undefined. */
export function listedFor(
  limits: CallerLimits | undefined,
  method: string | undefined,
  path: string,
): readonly string[] | undefined {
  const models = limits?.models ?? undefined
  return models !== undefined && method === 'GET' && /\/models\/?(?:\?|$)/.test(path) ? models : undefined
}

interface ListCall {
  id: string
  projectId: string | undefined
  upstream: Upstream
  path: string
  headers: readonly string[]
  /** What the key may call. */
  models: readonly string[]
}

const maxListBytes = 8 * 1024 * 1024

const listUnreadable: GatewayAnswer = {
  status: 502,
  message:
    'The gateway cannot read the list of models that the provider sent, to show what this key may call.',
  type: 'upstream_error',
  code: 'models_unreadable',
}

/** Asks the provider for its models and answers with those that the key may call. */
export class ModelList implements AnswerHandler, LiveCall {
  readonly begunMs = performance.now()
  readonly #dependencies: Pick<ProxyDependencies, 'calls' | 'metrics' | 'log'>
  readonly #call: ListCall
  readonly #response: ServerResponse
  #permit: Permit | undefined
  /** The credential sent to the provider. */
  #presented: object | undefined
  #exchange: Exchange | undefined
  #head: AnswerHead | undefined
  #chunks: Buffer[] = []
  #byteLength = 0
  #isOver = false

  constructor(
    dependencies: Pick<ProxyDependencies, 'calls' | 'metrics' | 'log'>,
    call: ListCall,
    response: ServerResponse,
  ) {
    this.#dependencies = dependencies
    this.#call = call
    this.#response = response
  }

  forward(): void {
    this.#dependencies.metrics.began()
    this.#dependencies.calls.add(this)
    this.#response.once('close', () => this.breakOff(new Error('the application closed its connection')))
    const permit = this.#call.upstream.enter(this.#call.projectId, (granted) => {
      this.#permit = granted
      void this.#send().catch((error: unknown) =>
        this.onError(error instanceof Error ? error : new Error(String(error))),
      )
    })
    if (permit instanceof Error) this.onError(permit)
    else this.#permit = permit
  }

  async #send(): Promise<void> {
    const { upstream, path, headers } = this.#call
    // A list that is not compressed can be read.
    const sent = pairsWithout(headers, 'accept-encoding')
    const request = { method: 'GET', path, headers: sent, body: null }
    const given = upstream.present(request)
    const presented = given instanceof Promise ? await given : given
    if (this.#isOver) return
    this.#presented = presented?.credential
    this.#exchange = upstream.send({ ...request, headers: [...sent, ...(presented?.headers ?? [])] }, this)
  }

  onAnswer(head: AnswerHead): void {
    this.#call.upstream.breaker.answered()
    this.#head = head
    // The next call gets other credentials.
    if (this.#presented !== undefined) this.#call.upstream.credentials?.refused(this.#presented, head)
  }

  onData(chunk: Buffer): void {
    this.#byteLength += chunk.length
    if (this.#byteLength <= maxListBytes) this.#chunks.push(chunk)
    else this.breakOff(new Error(`the list of models is larger than ${maxListBytes} bytes`))
  }

  onEnd(): void {
    const head = this.#head
    if (this.#isOver || head === undefined) return
    const whole = Buffer.concat(this.#chunks)
    const shown = head.status === 200 ? listedModels(whole, this.#call.models) : whole
    if (shown === undefined) {
      sendAnswer(this.#response, listUnreadable, this.#call.id)
      this.#end(listUnreadable.status)
      return
    }
    const { raw } = answerHeaders(head.headers, this.#call.id)
    const kept = pairsWithout(pairsWithout(raw, 'content-length'), 'etag')
    this.#response.writeHead(head.status, head.reason, [...kept, 'Content-Length', String(shown.length)])
    this.#response.end(shown)
    this.#end(head.status)
  }

  onError(error: Error): void {
    if (this.#isOver) return
    const { log } = this.#dependencies
    const answer = answerForFailure(error)
    if (this.#exchange !== undefined && this.#head === undefined) this.#call.upstream.breaker.failed()
    if (answer.refusal === undefined)
      log.warn({ request_id: this.#call.id, err: error }, 'the list of models could not be read')
    const isGone = this.#response.destroyed
    if (!isGone) sendAnswer(this.#response, answer, this.#call.id)
    this.#end(isGone ? null : answer.status)
  }

  breakOff(error: Error): void {
    if (this.#isOver) return
    if (this.#exchange === undefined) this.onError(error)
    else this.#exchange.abort(error)
  }

  #end(status: number | null): void {
    this.#isOver = true
    this.#permit?.release()
    this.#dependencies.metrics.ended(status)
    this.#dependencies.calls.delete(this)
  }
}

function pairsWithout(pairs: readonly string[], name: string): string[] {
  const kept: string[] = []
  for (let at = 0; at < pairs.length; at += 2)
    if (pairs[at]?.toLowerCase() !== name) kept.push(pairs[at] ?? '', pairs[at + 1] ?? '')
  return kept
}

/** Where providers list their models: OpenAI and Anthropic, Google, Ollama and Cohere, Bedrock. */
const lists = ['data', 'models', 'modelSummaries'] as const
const names = ['id', 'name', 'model', 'modelId', 'slug'] as const

/** The list without models that the key may not call; undefined: unreadable. */
export function listedModels(answer: Buffer, models: readonly string[]): Buffer | undefined {
  const list = objectOf(parseJson(answer.toString('utf8')))
  const found = list === undefined ? [] : lists.filter((name) => Array.isArray(list[name]))
  if (list === undefined || found.length === 0) return undefined
  const filtered = found.map((name) => [name, listOf(list[name]).filter((entry) => mayCall(entry, models))])
  return Buffer.from(JSON.stringify({ ...list, ...Object.fromEntries(filtered) }))
}

function mayCall(entry: unknown, models: readonly string[]): boolean {
  const object: JsonObject = objectOf(entry) ?? {}
  return names.some((name) => {
    const model = textOf(object[name])?.replace(/^models\//, '')
    return model !== undefined && listsModel(models, model)
  })
}
