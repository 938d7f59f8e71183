import type { Authorizer, Caller } from './authorize.ts'
import type { RawHeaders } from './forwarded-headers.ts'

/** Headers in which clients send a bare key, in lower case. MCP clients need Authorization for themselves. */
const keyHeaders: ReadonlySet<string> = new Set(['x-api-key', 'api-key', 'x-goog-api-key', 'x-service-key'])

export interface FoundCaller {
  caller: Caller | 'unknown' | 'unavailable'
  /** The headers that hold the caller's key, in lower case. */
  heldBy: ReadonlySet<string>
}

const inAuthorization: ReadonlySet<string> = new Set(['authorization'])
const nobody: FoundCaller = { caller: 'unknown', heldBy: new Set() }

/**
 * Finds the caller by the key in any header that clients use. Two different keys of ours are nobody's, and so
 * is a header that comes twice: the provider might take the other.
 */
export function findCaller(raw: RawHeaders, authorize: Authorizer): FoundCaller | Promise<FoundCaller> {
  const candidates = readCandidates(raw)
  if (candidates === undefined) return nobody
  const [only, ...others] = candidates
  if (only === undefined) return nobody
  if (others.length === 0) {
    const [authorization, heldBy] = only
    const caller = authorize(authorization)
    return caller instanceof Promise
      ? caller.then((found) => ({ caller: found, heldBy }))
      : { caller, heldBy }
  }
  const found = [...candidates].map(([authorization]) => authorize(authorization))
  const heldBy = [...candidates.values()]
  if (!found.some((each) => each instanceof Promise))
    return chooseCaller(found as FoundCaller['caller'][], heldBy)
  return Promise.all(found.map((each) => Promise.resolve(each))).then((callers) =>
    chooseCaller(callers, heldBy),
  )
}

/** The headers of each distinct key, by the key as Authorization has it. Undefined: a header comes twice. */
function readCandidates(raw: RawHeaders): Map<string, ReadonlySet<string>> | undefined {
  const candidates = new Map<string, ReadonlySet<string>>()
  const seen = new Set<string>()
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]?.toLowerCase() ?? ''
    const isAuthorization = name === 'authorization'
    if (!isAuthorization && !keyHeaders.has(name)) continue
    if (seen.has(name)) return undefined
    seen.add(name)
    const value = raw[at + 1] ?? ''
    const key = isAuthorization ? value : `Bearer ${value}`
    const held = candidates.get(key)
    candidates.set(
      key,
      held === undefined ? (isAuthorization ? inAuthorization : new Set([name])) : new Set([...held, name]),
    )
  }
  return candidates
}

function chooseCaller(
  callers: readonly FoundCaller['caller'][],
  heldBy: readonly ReadonlySet<string>[],
): FoundCaller {
  const known = callers.flatMap((caller, at) =>
    typeof caller === 'string' ? [] : [{ caller, heldBy: heldBy[at] ?? new Set<string>() }],
  )
  if (known.length === 1) return known[0] ?? nobody
  return known.length === 0 && callers.includes('unavailable') ? { ...nobody, caller: 'unavailable' } : nobody
}

/**
 * The application's headers that the provider does not get: those that the gateway's `credentials` replace
 * and those that hold our key; without credentials Authorization passes all the same (specification).
 */
export function createDropped(
  replaces: ReadonlySet<string> | undefined,
): (heldBy: ReadonlySet<string>) => ReadonlySet<string> {
  const usual = new Set(replaces === undefined ? [] : [...replaces, 'authorization'])
  return (heldBy) => {
    if (heldBy === inAuthorization) return usual
    if (replaces !== undefined) return new Set([...replaces, ...heldBy])
    return new Set([...heldBy].filter((name) => name !== 'authorization'))
  }
}
