import type pg from 'pg'
import type { FindingState } from '#schemas/event-data.ts'
import { idToUuid } from '#schemas/ids.ts'

interface Stored {
  id: string
  state: FindingState
  severity: string
  agent_name: string
  tool_name: string
  evidence_kind: string
  count: number
  values: number
  revision: number
  first: string
  last: string
}

/** What tests read and set of a project's findings. */
export function createFindingReader(poolOf: () => pg.Pool) {
  async function findingsOf(projectId: string): Promise<Stored[]> {
    const { rows } = await poolOf().query<Stored>(
      `select f.id, f.state, f.severity, f.agent_name, f.tool_name, f.evidence_kind, f.revision,
       (select sum(count)::integer from finding_counters c where c.project_id = f.project_id and c.finding_id = f.id) as count,
       (select count(distinct hash)::integer from finding_values v where v.project_id = f.project_id and v.finding_id = f.id) as values,
       (select min(first_request_id::text) from finding_counters c where c.project_id = f.project_id and c.finding_id = f.id) as first,
       (select max(last_request_id::text) from finding_counters c where c.project_id = f.project_id and c.finding_id = f.id) as last
     from findings f where f.project_id = $1 order by f.agent_name, f.evidence_kind`,
      [idToUuid(projectId)],
    )
    return rows
  }

  async function eventsOf(projectId: string): Promise<[string, Record<string, unknown>][]> {
    const { rows } = await poolOf().query<{ event: string; data: Buffer }>(
      'select event, data from event_outbox where project_id = $1 order by seq',
      [idToUuid(projectId)],
    )
    return rows.map(({ event, data }) => [event, JSON.parse(data.toString()) as Record<string, unknown>])
  }

  async function setState(projectId: string, state: FindingState, mutedUntil: Date | null = null) {
    await poolOf().query(
      `update findings set state = $2, muted_until = $3, closed_at = case when $2 in ('resolved', 'false_alarm') then now() end where project_id = $1`,
      [idToUuid(projectId), state, mutedUntil],
    )
  }

  return { findingsOf, eventsOf, setState }
}
