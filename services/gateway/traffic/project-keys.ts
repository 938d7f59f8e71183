import { hash } from 'node:crypto'
import { request, type Dispatcher } from 'undici'
import { z } from 'zod'
import { ageAt } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { captureLevels, unknownBudgetChoices } from '#schemas/key-limits.ts'
import { limitsOf, type CallerLimits } from '../budgets/caller-limits.ts'
import type { Authorizer, Caller } from './authorize.ts'

/** Asks the API service for a key's project; null for an unknown or revoked key. */
export type ResolveKey = (sha256: string) => Promise<ResolvedKey | null>

export interface ResolvedKey {
  projectId: string
  /** Zero content retention. */
  isEphemeral: boolean
  masks?: boolean
  scope: string
  expiresMs: number | null
  /** What the key carries; undefined: nothing. */
  limits?: CallerLimits | undefined
}

interface Options {
  resolve: ResolveKey
  now: () => number
  log: Log
}

interface Cached {
  key: ResolvedKey | null
  askedMs: number
  /** When the API service gave this answer. */
  answeredMs: number
}

/** Cached answers are renewed in the background from this age on. */
const renewMs = 30_000
/** Maximum age of a cached answer while the API service is up. */
const validMs = 55_000
/**
 * Maximum age of a cached answer while the API service is down, which should not stop applications. Keys are
 * revoked through that service, so only a cut-off gateway can miss a revocation.
 */
const maxStaleMs = 86_400_000
/** Pause between requests about a key while the service is down. */
const retryMs = 5_000
/** Limits of known and of unknown keys, apart, so that made-up keys evict no real ones. */
const maxCached = 10_000

/** `svc_`, an optional label with `_`, and 48 hexadecimal digits, which alone are the secret. */
const keyPattern = /^svc_(?:[A-Za-z0-9_-]{1,32}_)?([0-9A-Fa-f]{48})$/

/**
 * Accepts keys of projects. A revoked key is refused within a minute. While the API service is down, its last
 * answer about a key counts for a day; without one the key is `unavailable`.
 */
export function createProjectKeys({ resolve, now, log }: Options): Authorizer {
  const cache = new Map<string, Cached>()
  const refused = new Map<string, Cached>()
  const asking = new Map<string, Promise<Cached>>()

  const store = (digest: string, entry: Cached): Cached => {
    cache.delete(digest)
    refused.delete(digest)
    const kept = entry.key === null ? refused : cache
    kept.set(digest, entry)
    // Evict the entry that was checked longest ago.
    const [oldest] = kept.keys()
    if (kept.size > maxCached && oldest !== undefined) kept.delete(oldest)
    return entry
  }
  const ask = async (digest: string, last: Cached | undefined): Promise<Cached> => {
    try {
      const key = await resolve(digest)
      return store(digest, { key, askedMs: now(), answeredMs: now() })
    } catch (error) {
      if (last === undefined) throw error
      // The time is in the future if the clock was set back; that should not stop applications either.
      const answeredMs = Math.min(last.answeredMs, now())
      if (now() - answeredMs >= maxStaleMs) throw error
      log.warn({ err: error }, 'keys cannot be checked: the last answer about each stands')
      // Old enough for a background renewal soon.
      return store(digest, { ...last, answeredMs, askedMs: now() - renewMs + retryMs })
    }
  }
  const askOnce = (digest: string, last: Cached | undefined): Promise<Cached> => {
    const asked = asking.get(digest) ?? ask(digest, last).finally(() => asking.delete(digest))
    asking.set(digest, asked)
    return asked
  }
  const callerOf = ({ key }: Cached): Caller | 'unknown' => {
    if (key === null || key.scope === 'read' || (key.expiresMs !== null && key.expiresMs <= now()))
      return 'unknown'
    const { projectId, isEphemeral, masks, limits } = key
    return {
      projectId,
      isEphemeral,
      ...(masks === true && { masks }),
      ...(limits !== undefined && { limits }),
    }
  }

  return (given) => {
    const digits = keyPattern.exec(given)?.[1]
    if (digits === undefined) return 'unknown'
    const digest = hash('sha256', digits.toLowerCase(), 'hex')
    const last = cache.get(digest) ?? refused.get(digest)
    const ageMs = last === undefined ? Infinity : ageAt(now(), last.askedMs)
    if (last !== undefined && ageMs < validMs) {
      if (ageMs >= renewMs)
        askOnce(digest, last).catch((error: unknown) =>
          log.warn({ err: error }, 'keys could not be checked for a day: their calls are refused'),
        )
      return callerOf(last)
    }
    return askOnce(digest, last).then(callerOf, (error: unknown) => {
      log.error({ err: error }, 'a key cannot be checked')
      return 'unavailable'
    })
  }
}

const answerSchema = z.object({
  project_id: z.string(),
  zero_content_retention: z.boolean(),
  mask: z.boolean().default(false),
  scope: z.string(),
  expires_at: z.iso.datetime().nullable(),
  // An API of the version before sends none.
  key_id: z.string().default(''),
  user: z.string().nullable().default(null),
  team: z.string().nullable().default(null),
  models: z.array(z.string()).nullable().default(null),
  capture: z.enum(captureLevels).default('full'),
  rate_limit_per_minute: z.number().nullable().default(null),
  monthly_budget_usd: z.number().nullable().default(null),
  when_unknown: z.enum(unknownBudgetChoices).default('stop'),
})
/** A call waits for this request. */
const timeoutMs = 3_000

/** Calls `POST /internal/keys/resolve`. */
export function resolveByApi(url: string, internalSecret: string, dispatcher: Dispatcher): ResolveKey {
  return async (sha256) => {
    const { statusCode, body } = await request(`${url}/internal/keys/resolve`, {
      dispatcher,
      method: 'POST',
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${internalSecret}` },
      body: JSON.stringify({ key_sha256: sha256 }),
    })
    if (statusCode === 200) {
      return keyOf(answerSchema.parse(await body.json()))
    }
    const text = await body.text()
    // Any other 404 means a wrong address or an old service, not an unknown key.
    if (statusCode === 404 && text.includes('"KEY_UNKNOWN"')) return null
    throw new Error(`the API service answered ${statusCode} about a key`)
  }
}

function keyOf(answer: z.output<typeof answerSchema>): ResolvedKey {
  const { project_id: projectId, scope, expires_at: expires, zero_content_retention: isEphemeral } = answer
  const { user, team, models, capture } = answer
  const limits = limitsOf(answer.key_id, {
    ...{ user, team, models, capture },
    ratePerMinute: answer.rate_limit_per_minute,
    monthlyBudgetUsd: answer.monthly_budget_usd,
    whenUnknown: answer.when_unknown,
  })
  const expiresMs = expires === null ? null : Date.parse(expires)
  const masks = answer.mask && { masks: true }
  return { projectId, isEphemeral, ...masks, scope, expiresMs, ...(limits !== undefined && { limits }) }
}
