import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { SuppressionRule } from '#schemas/suppression.ts'
import { hashValue } from '#schemas/value-hash.ts'
import { found, invalidInput, Problem } from '#http/problem.ts'
import type { OneProject, ProjectDatabase } from '../stores/project-database.ts'
import { findFoundValues } from '../stores/suppression-store.ts'
import { findValueKey } from '../stores/value-keys.ts'
import type { RuleBody } from './suppression-schemas.ts'

/** A critical finding must not be silenced for good. */
const maxCriticalDays = 90
const dayMs = 86_400_000

interface ReadRule {
  rule: SuppressionRule
  /** The request whose score has the value. */
  requestId: string | null
}

type Reader = (
  database: ProjectDatabase<OneProject>,
  body: RuleBody,
  id: string,
  nowMs: number,
) => Promise<ReadRule>

/** Makes rules of requests' bodies. Throws 404 for an unknown score, 422 that names a wrong field. */
export function createReadRule(sealer: Sealer): Reader {
  return async (database, body, id, nowMs) => {
    const expiresAtMs = body.expires_at
    checkExpiry(body, nowMs)
    const value = await readValue(database, body, sealer, nowMs)
    const rule: SuppressionRule = {
      id,
      scorer_name: body.scorer_name,
      kind: body.kind ?? null,
      agent_name: body.agent_name ?? null,
      tool_name: body.tool_name ?? null,
      has_value: value !== undefined,
      value_hash: value?.hash ?? null,
      max_severity: body.max_severity,
      expires_at: expiresAtMs === undefined ? null : new Date(expiresAtMs),
    }
    return { rule, requestId: value?.requestId ?? null }
  }
}

function checkExpiry({ max_severity: severity, expires_at: expiresAtMs }: RuleBody, nowMs: number): void {
  const refuse = (message: string) => invalidInput([{ path: 'expires_at', message }])
  if (expiresAtMs === undefined) {
    if (severity === 'critical') throw refuse('is required: the suppression covers critical scores')
    return
  }
  if (expiresAtMs <= nowMs) throw refuse('must be in the future')
  if (severity === 'critical' && expiresAtMs > nowMs + maxCriticalDays * dayMs)
    throw refuse(`must be at most ${maxCriticalDays} days ahead: the suppression covers critical scores`)
}

async function readValue(
  database: ProjectDatabase<OneProject>,
  body: RuleBody,
  sealer: Sealer,
  nowMs: number,
): Promise<{ hash: Buffer; requestId: string | null } | undefined> {
  const { value, score_id: scoreId, value_index: index } = body
  if (scoreId === undefined) {
    if (index !== undefined)
      throw invalidInput([{ path: 'value_index', message: 'is for a suppression by score_id' }])
    if (value === undefined) return undefined
    const key = found(await openKey(database, sealer, nowMs), 'project', database.scope.projectId)
    return { hash: hashValue(key, body.scorer_name, value), requestId: null }
  }
  if (value !== undefined)
    throw invalidInput([{ path: 'score_id', message: 'cannot be used together with value' }])
  if (index === undefined)
    throw invalidInput([{ path: 'value_index', message: 'is required together with score_id' }])
  const score = found(await findFoundValues(database, scoreId), 'score', scoreId)
  if (score.scorer_name !== body.scorer_name)
    throw invalidInput([{ path: 'scorer_name', message: `must be ${score.scorer_name}, as of the score` }])
  const hash = score.values[index]?.hash
  if (hash === undefined || hash === null)
    throw invalidInput([{ path: 'value_index', message: faultOf(score.values.length, hash) }])
  return { hash: Buffer.from(hash, 'hex'), requestId: score.request_id }
}

function faultOf(values: number, hash: null | undefined): string {
  if (hash === null)
    return 'names a value without a hash: the project kept no content, or its key did not open'
  return values === 0
    ? 'names no value: the score has none, or they were erased'
    : `must be below ${values}, the number of the score's values`
}

async function openKey(
  database: ProjectDatabase<OneProject>,
  sealer: Sealer,
  nowMs: number,
): Promise<Buffer | undefined> {
  try {
    return await findValueKey(database, sealer, nowMs)
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    throw new Problem(
      500,
      'BODY_UNREADABLE',
      'values cannot be hashed: their key is encrypted with a key that the API does not have',
      { cause: error },
    )
  }
}
