import type { Authorizer, Caller } from './authorize.ts'
import type { UpstreamKind } from '../upstreams/upstreams-file.ts'
import type { RawHeaders } from './forwarded-headers.ts'
import { inQuery } from './query-key.ts'

/** Headers in which clients send a bare key, in lower case. MCP clients need Authorization for themselves. */
const keyHeaders: ReadonlySet<string> = new Set(['x-api-key', 'api-key', 'x-goog-api-key', 'x-service-key'])

export interface FoundCaller {
  caller: Caller | 'unknown' | 'unavailable'
  /** The headers that hold the caller's key, in lower case; {@link inQuery} for the query. */
  heldBy: ReadonlySet<string>
}

const inAuthorization: ReadonlySet<string> = new Set(['authorization'])
const nobody: FoundCaller = { caller: 'unknown', heldBy: new Set() }

interface Candidate {
  key: string
  heldBy: ReadonlySet<string>
}

const none: readonly string[] = []

/**
 * Finds the caller by the key in any header that clients use, or among `queryKeys`. Two different keys of
 * ours are nobody's, and so is a header that comes twice: the provider might take the other.
 */
export function findCaller(
  raw: RawHeaders,
  authorize: Authorizer,
  queryKeys = none,
): FoundCaller | Promise<FoundCaller> {
  const candidates = queryKeys.length > 1 ? undefined : readCandidates(raw)
  if (candidates === undefined) return nobody
  for (const key of queryKeys) addCandidate(candidates, key, inQuery)
  const found = candidates.map(({ key }) => authorize(key))
  return found.some((each) => each instanceof Promise)
    ? Promise.all(found.map((each) => Promise.resolve(each))).then((all) => chooseCaller(all, candidates))
    : chooseCaller(found as FoundCaller['caller'][], candidates)
}

/** One for each distinct key. Undefined if a header comes twice. */
function readCandidates(raw: RawHeaders): Candidate[] | undefined {
  const candidates: Candidate[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]?.toLowerCase() ?? ''
    const isBare = keyHeaders.has(name)
    if (!isBare && name !== 'authorization') continue
    if (candidates.some(({ heldBy }) => heldBy.has(name))) return undefined
    const value = raw[at + 1] ?? ''
    const key = isBare ? value : bearerToken(value)
    if (key === undefined) continue
    addCandidate(candidates, key, name)
  }
  return candidates
}

function addCandidate(candidates: Candidate[], key: string, name: string): void {
  const same = candidates.find((candidate) => candidate.key === key)
  if (same !== undefined) same.heldBy = new Set([...same.heldBy, name])
  else candidates.push({ key, heldBy: name === 'authorization' ? inAuthorization : new Set([name]) })
}

function bearerToken(authorization: string): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization)?.[1]?.trimEnd()
}

function chooseCaller(
  callers: readonly FoundCaller['caller'][],
  candidates: readonly Candidate[],
): FoundCaller {
  const known = candidates.flatMap(({ heldBy }, at) => {
    const caller = callers[at]
    return typeof caller === 'object' ? [{ caller, heldBy }] : []
  })
  const [only, another] = known
  if (only !== undefined) return another === undefined ? only : nobody
  return callers.includes('unavailable') ? { ...nobody, caller: 'unavailable' } : nobody
}

/**
 * The application's headers that the provider does not get: those that the gateway's `credentials` replace
 * and those that hold our key. Without credentials Authorization passes all the same (specification), but not
 * to an MCP server.
 */
export function createDropped(
  replaces: ReadonlySet<string> | undefined,
  kind: UpstreamKind = 'model',
): (heldBy: ReadonlySet<string>) => ReadonlySet<string> {
  // `Authorization` is a server's own OAuth token, unless it is our key.
  if (kind === 'mcp') return (heldBy) => new Set([...(replaces ?? []), ...heldBy])
  const usual = new Set(replaces === undefined ? [] : [...replaces, 'authorization'])
  return (heldBy) => {
    if (heldBy === inAuthorization) return usual
    if (replaces !== undefined) return new Set([...replaces, ...heldBy])
    return new Set([...heldBy].filter((name) => name !== 'authorization'))
  }
}
