import { objectOf } from '#capture/json.ts'
import { decodeContent } from '#capture/decode-content.ts'
import type { PriceTable } from '#capture/price-table.ts'
import { providerOfUpstream } from '#capture/providers.ts'
import { listsModel } from '#schemas/key-limits.ts'
import { picodollarsOf } from '#schemas/picodollars.ts'
import type { GatewayAnswer } from '../traffic/gateway-answer.ts'
import type { CallerLimits } from './caller-limits.ts'
import { estimateCall } from './estimate-call.ts'
import {
  budgetExceeded,
  budgetUnknown,
  CallRefused,
  modelNotAllowed,
  modelUnknown,
  modelWithoutPrice,
  tooManyCalls,
} from './key-answers.ts'
import type { KeyBudgets, Spending } from './key-budgets.ts'
import { namedModels, readRequest, type ReadRequest } from './named-models.ts'
import type { RateLimits } from './rate-limits.ts'
import { costOfRecord } from './record-cost.ts'

/** A body is read for a key with a model list or a budget up to this length. */
export const maxCheckedBytes = 32 * 1024 * 1024

/** What decides over calls of keys with limits. */
export interface KeyGuard {
  rates: RateLimits
  budgets: KeyBudgets
  prices: PriceTable
  now: () => number
}

interface CheckedCall {
  method: string | undefined
  path: string
  upstream: { hostname: string; provider: string | undefined }
  contentType: string | undefined
  contentEncoding: string | undefined
}

/** Why a call may not begin yet, or undefined. */
export function overRate(limits: CallerLimits, { rates }: KeyGuard): GatewayAnswer | undefined {
  if (limits.ratePerMinute === null) return undefined
  const waitSeconds = rates(limits.keyId, limits.ratePerMinute)
  return waitSeconds === 0 ? undefined : tooManyCalls(limits.ratePerMinute, waitSeconds)
}

/** These call no model. */
const harmless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])
/** Counting tokens costs nothing. */
const free = /[/:]count_?tokens$/i

/** The check of a call; undefined: none is needed. */
export function checkOf(
  limits: CallerLimits | undefined,
  call: CheckedCall,
  guard: KeyGuard | undefined,
): KeyCheck | undefined {
  if (limits === undefined || guard === undefined || harmless.has(call.method ?? 'GET')) return undefined
  const isChecked = limits.models !== null || limits.monthlyBudgetUsd !== null
  return isChecked ? new KeyCheck(limits, call, guard) : undefined
}

/** Decides over one call once its body is there, and settles its cost at its end. */
export class KeyCheck {
  readonly #limits: CallerLimits
  readonly #call: CheckedCall
  readonly #guard: KeyGuard
  #spending: Spending | undefined
  #estimate = 0n
  #wasSent = false
  #hasEnded = false

  constructor(limits: CallerLimits, call: CheckedCall, guard: KeyGuard) {
    this.#limits = limits
    this.#call = call
    this.#guard = guard
  }

  /** Why the call may not be made; undefined: it may. */
  async admit(bytes: Buffer): Promise<CallRefused | undefined> {
    const request = await this.#read(bytes)
    const models = namedModels(this.#call.path, request)
    const refusal = this.#refusalOf(models) ?? (await this.#spend(models, request, bytes.length))
    return refusal === undefined ? undefined : new CallRefused(refusal)
  }

  /** The call goes to the provider. */
  sent(): void {
    this.#wasSent = true
  }

  /**
   * The call has ended. `status`: the provider's; null: none came. `record`: as it will be stored. Where
   * neither says the cost, the estimate counts: the provider may have billed it.
   */
  ended(status: number | null, record?: Buffer): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const spending = this.#spending
    if (spending === undefined) return
    if (!this.#wasSent || (status !== null && status >= 400)) spending.settle(0n)
    else if (record === undefined) spending.settle(this.#estimate)
    else
      // Reading it may take milliseconds, and the answer's end waits for nothing of it.
      setImmediate(() => {
        const usd = costOfRecord(record, this.#guard.prices)
        spending.settle(usd === null ? this.#estimate : picodollarsOf(usd))
      })
  }

  async #read(bytes: Buffer): Promise<ReadRequest | undefined> {
    const { contentEncoding = '', contentType = '' } = this.#call
    // A form may name its model twice, in ways that providers read differently.
    if (/^multipart\//i.test(contentType)) return undefined
    if (contentEncoding === '') return readRequest(bytes)
    const decoded = await decodeContent(contentEncoding, bytes, maxCheckedBytes)
    return decoded === undefined || decoded.cut ? undefined : readRequest(decoded.bytes)
  }

  #refusalOf(models: readonly string[]): GatewayAnswer | undefined {
    const { models: allowed } = this.#limits
    if (models.length === 0) return modelUnknown(allowed)
    const other = allowed === null ? undefined : models.find((model) => !listsModel(allowed, model))
    return other === undefined ? undefined : modelNotAllowed(other, allowed ?? [])
  }

  async #spend(
    models: readonly string[],
    request: ReadRequest | undefined,
    byteLength: number,
  ): Promise<GatewayAnswer | undefined> {
    const { path, upstream } = this.#call
    const { monthlyBudgetUsd: usd } = this.#limits
    if (usd === null || free.test(path.split('?', 1)[0] ?? '')) return undefined
    const { budgets, prices, now } = this.#guard
    const provider = upstream.provider ?? providerOfUpstream(upstream.hostname, path)
    const call = { models, provider, path, body: objectOf(request?.body), byteLength }
    const estimate = estimateCall(call, prices)
    if (estimate === null) return modelWithoutPrice(models[0] ?? '')
    const spending = budgets.spend(this.#limits, estimate)
    const admitted = await spending.admitted
    if (admitted === 'unknown') return budgetUnknown
    if (admitted === 'exceeded') return budgetExceeded(usd, spending.month, now())
    this.#estimate = estimate
    // The application may have disconnected meanwhile.
    if (this.#hasEnded) spending.settle(0n)
    else this.#spending = spending
    return undefined
  }
}
