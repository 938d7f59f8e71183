import type { Pool } from 'pg'
import { invalidInput } from '#http/problem.ts'
import type { Principal } from '#http/access/principal.ts'
import type { FindingState } from '#schemas/event-data.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { ChangeBy, StandingChange } from '../stores/change-findings.ts'
import { findOwner } from '../stores/find-owner.ts'

const maxMuteMs = 366 * 86_400_000

export interface ChangeBody {
  state?: FindingState | undefined
  muted_until?: number | undefined
  owner?: string | null | undefined
}

/** What a body asks of a finding. Throws 422 that names a wrong field. */
export async function readFindingChange(
  operatorPool: Pool,
  projectId: string,
  body: ChangeBody,
  nowMs: number,
): Promise<StandingChange> {
  const { state, muted_until: untilMs, owner } = body
  if (state === undefined && owner === undefined)
    throw invalidInput([{ path: 'state', message: 'is required, or owner' }])
  checkMute(state, untilMs, nowMs)
  const change: StandingChange = {}
  if (state !== undefined) {
    change.state = state
    change.muted_until = untilMs === undefined ? null : new Date(untilMs)
  }
  if (owner === undefined) return change
  return { ...change, ...(await readOwner(operatorPool, projectId, owner)) }
}

function checkMute(state: FindingState | undefined, untilMs: number | undefined, nowMs: number): void {
  const refuse = (message: string) => invalidInput([{ path: 'muted_until', message }])
  if (untilMs === undefined) {
    if (state === 'muted') throw refuse('is required with the state muted')
    return
  }
  if (state !== 'muted') throw refuse('is for the state muted')
  if (untilMs <= nowMs) throw refuse('must be in the future')
  if (untilMs > nowMs + maxMuteMs) throw refuse('must be at most 366 days ahead')
}

async function readOwner(
  operatorPool: Pool,
  projectId: string,
  owner: string | null,
): Promise<StandingChange> {
  if (owner === null) return { owner_id: null, owner_login: null }
  const login = await findOwner(operatorPool, projectId, owner)
  if (login === undefined)
    throw invalidInput([{ path: 'owner', message: 'must be an active user who sees the project' }])
  return { owner_id: idToUuid(owner), owner_login: login }
}

/** The logins of those of the users who may own findings of the project. */
export async function readLogins(
  operatorPool: Pool,
  projectId: string,
  personIds: readonly string[],
): Promise<Map<string, string>> {
  const logins = new Map<string, string>()
  for (const id of personIds) {
    const login = await findOwner(operatorPool, projectId, id)
    if (login !== undefined) logins.set(id, login)
  }
  return logins
}

/** Who changes something: a user by the login, others by the name that they give. */
export function changeBy(principal: Principal, author: string): ChangeBy {
  if (principal.kind === 'person') return { kind: 'person', name: principal.person.login }
  return { kind: principal.kind === 'operator' ? 'operator' : 'key', name: author }
}
