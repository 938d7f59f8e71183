import type { ClientBase } from 'pg'
import type { FindingState } from '#schemas/event-data.ts'
import { opensAgain } from '#schemas/finding.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { severities, type Severity } from '#schemas/verdicts.ts'
import { worseOf, type FindingGroup } from '../steps/group-findings.ts'

/** How a finding stands after a batch. */
export interface FindingStands {
  state: FindingState
  muted_until: Date | null
  severity: Severity
  revision: number
  owner_id: string | null
  owner_login: string | null
  /** Before this batch changed it; null: it is new. Undefined: nothing changed it. */
  previousState?: FindingState | null
}

interface StandRow extends FindingStands {
  project_id: string
  id: string
}

const keysOf = (groups: readonly FindingGroup[]) => [
  groups.map(({ projectUuid }) => projectUuid),
  groups.map(({ findingUuid }) => findingUuid),
]

/**
 * Known findings, in the order of their keys. They cannot be deleted until the transaction ends; sinks do not
 * wait for each other.
 */
export function lockFindings(
  client: ClientBase,
  groups: readonly FindingGroup[],
): Promise<Map<string, FindingStands>> {
  return readFindings(client, groups, 'for key share of f')
}

async function readFindings(
  client: ClientBase,
  groups: readonly FindingGroup[],
  lock: string,
): Promise<Map<string, FindingStands>> {
  if (groups.length === 0) return new Map()
  const { rows } = await client.query<StandRow>(
    `select f.project_id, f.id, f.state, f.muted_until, f.severity, f.revision, f.owner_id, f.owner_login
     from unnest($1::uuid[], $2::uuid[]) as w (project_id, id) join findings f on f.project_id = w.project_id and f.id = w.id
     order by f.project_id, f.id ${lock}`,
    keysOf(groups),
  )
  return new Map(rows.map(({ project_id, id, ...stand }) => [`${project_id}/${id}`, stand]))
}

/** Opens new findings. Those that others have opened meanwhile, and of deleted projects, are left out. */
export async function openFindings(
  client: ClientBase,
  groups: readonly FindingGroup[],
  nowMs: number,
): Promise<Map<string, FindingStands>> {
  const { rows } = await client.query<{ project_id: string; id: string; severity: Severity }>(
    `insert into findings (project_id, id, scorer_name, evidence_kind, agent_name, tool_name, owasp_category, severity,
       state, revision, created_at, opened_at)
     select w.*, 'open', 0, $9, $9
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
       as w (project_id, id, scorer_name, evidence_kind, agent_name, tool_name, owasp_category, severity)
     -- A deleted project has nobody to notify.
     where exists (select from projects p where p.id = w.project_id) order by w.project_id, w.id
     on conflict (project_id, id) do nothing returning project_id, id, severity`,
    [
      ...keysOf(groups),
      groups.map(({ key }) => key.scorer_name),
      groups.map(({ key }) => key.evidence_kind),
      groups.map(({ key }) => key.agent_name),
      groups.map(({ key }) => key.tool_name),
      groups.map(({ owaspCategory }) => owaspCategory),
      groups.map(({ severity }) => severity),
      new Date(nowMs),
    ],
  )
  const opened = { state: 'open', muted_until: null, revision: 0, owner_id: null, owner_login: null } as const
  return new Map(
    rows.map(({ project_id, id, severity }) => [
      `${project_id}/${id}`,
      { ...opened, severity, previousState: null },
    ]),
  )
}

/** Reopens findings and raises severities where these scores ask for it: few, and locked in their order. */
export async function changeStandings(
  client: ClientBase,
  groups: readonly FindingGroup[],
  stands: ReadonlyMap<string, FindingStands>,
  nowMs: number,
): Promise<Map<string, FindingStands>> {
  const after = new Map(stands)
  const toChange = groups.filter((group) => changes(group, stands.get(identityOf(group)), nowMs))
  if (toChange.length === 0) return after
  // Read again: a person or another sink may have changed them meanwhile.
  const locked = await readFindings(client, toChange, 'for no key update of f')
  const reopened: { group: FindingGroup; before: FindingStands }[] = []
  const worse: FindingGroup[] = []
  for (const group of toChange) {
    const before = locked.get(identityOf(group))
    if (before === undefined) continue
    const severity = worseOf(before.severity, group.severity)
    const stand = { ...before, severity, ...ofNew(stands.get(identityOf(group))) }
    after.set(identityOf(group), stand)
    if (severity !== before.severity) worse.push(group)
    if (!opensAgain(before, nowMs)) continue
    const reopening = { state: 'open', muted_until: null, revision: before.revision + 1 } as const
    after.set(identityOf(group), { ...stand, ...reopening, previousState: before.state })
    reopened.push({ group, before })
  }
  await raiseSeverities(client, worse)
  await reopen(client, reopened, nowMs)
  return after
}

const identityOf = ({ projectUuid, findingUuid }: FindingGroup) => `${projectUuid}/${findingUuid}`

const ofNew = (stand: FindingStands | undefined) =>
  stand?.previousState === undefined ? {} : { previousState: stand.previousState }

function changes(group: FindingGroup, stand: FindingStands | undefined, nowMs: number): boolean {
  if (stand === undefined) return false
  return worseOf(stand.severity, group.severity) !== stand.severity || opensAgain(stand, nowMs)
}

/** Of findings whose severity is not yet as bad as these scores', locked in the order of their keys. */
export async function raiseSeverities(client: ClientBase, groups: readonly FindingGroup[]): Promise<void> {
  if (groups.length === 0) return
  await client.query(
    `with locked as materialized (
       select f.project_id, f.id, w.severity from unnest($1::uuid[], $2::uuid[], $3::text[]) as w (project_id, id, severity)
       join findings f on f.project_id = w.project_id and f.id = w.id
       where array_position($4::text[], f.severity) < array_position($4::text[], w.severity)
       order by f.project_id, f.id for no key update of f
     )
     update findings f set severity = l.severity from locked l where f.project_id = l.project_id and f.id = l.id`,
    [...keysOf(groups), groups.map(({ severity }) => severity), severities],
  )
}

async function reopen(
  client: ClientBase,
  reopened: readonly { group: FindingGroup; before: FindingStands }[],
  nowMs: number,
): Promise<void> {
  if (reopened.length === 0) return
  const keys = keysOf(reopened.map(({ group }) => group))
  await client.query(
    `with changed as (
       update findings f set state = 'open', muted_until = null, closed_at = null, closed_by = null, opened_at = $4, revision = w.revision
       from unnest($1::uuid[], $2::uuid[], $3::integer[]) as w (project_id, id, revision)
       where f.project_id = w.project_id and f.id = w.id
     )
     insert into finding_changes (project_id, finding_id, revision, change_id, at, before, after)
     select w.project_id, w.id, w.revision, w.change_id, $4, w.before, w.before || '{"state": "open", "muted_until": null}'
     from unnest($1::uuid[], $2::uuid[], $3::integer[], $5::uuid[], $6::jsonb[]) as w (project_id, id, revision, change_id, before)`,
    [
      ...keys,
      reopened.map(({ before }) => before.revision + 1),
      new Date(nowMs),
      reopened.map(() => idToUuid(newId('findingChange', nowMs))),
      reopened.map(({ before: { state, muted_until, owner_id, owner_login } }) =>
        JSON.stringify({ state, muted_until, owner_id, owner_login }),
      ),
    ],
  )
}
