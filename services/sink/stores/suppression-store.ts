import type { ClientBase } from 'pg'
import { ageAt } from '#runtime/clock.ts'
import { liveRunId } from '#schemas/ids.ts'
import { maxActiveSuppressions, suppressionsOf, type SuppressionRule } from '#schemas/suppression.ts'
import type { PlacedScore } from '../steps/place-score.ts'

/** A new or revoked suppression takes effect within this time. */
const freshMs = 5_000
/** Projects and rules that are kept; beyond, the projects that were asked for longest ago go. */
const [maxProjects, maxRules] = [10_000, 50_000]
/** Days that ended suppressions are kept, for the scores that name them. */
const endedDays = 400

/** Projects' active suppressions, and what they have covered. */
export interface SuppressionStore {
  /** The scores with what covers each, by rules that are at most seconds old. */
  mark(client: ClientBase, scores: readonly PlacedScore[]): Promise<PlacedScore[]>
  /** Counts live scores that were added: once each, in the transaction that adds them. */
  count(client: ClientBase, added: readonly PlacedScore[], lane: number): Promise<void>
}

interface Known {
  rules: readonly SuppressionRule[]
  askedAtMs: number
}

/** `keptMs`: how long rules are kept. */
export function createSuppressionStore(now: () => number = Date.now, keptMs = freshMs): SuppressionStore {
  const known = new Map<string, Known>()
  let ruleCount = 0
  const forget = (projectUuid: string) => {
    ruleCount -= known.get(projectUuid)?.rules.length ?? 0
    known.delete(projectUuid)
  }

  async function refresh(client: ClientBase, projectUuids: readonly string[]): Promise<void> {
    const askedAtMs = now()
    const stale = projectUuids.filter((uuid) => {
      const found = known.get(uuid)
      return found === undefined || ageAt(askedAtMs, found.askedAtMs) >= keptMs
    })
    if (stale.length === 0) return
    const byProject = await readActive(client, stale)
    for (const uuid of stale) {
      forget(uuid)
      const rules = byProject.get(uuid) ?? []
      known.set(uuid, { rules, askedAtMs })
      ruleCount += rules.length
    }
  }

  /** After they were used: one batch may have more than is kept. */
  function trim(): void {
    for (const uuid of known.keys()) {
      if (known.size <= maxProjects && ruleCount <= maxRules) return
      forget(uuid)
    }
  }

  return {
    async mark(client, scores) {
      const unsafe = scores.filter(({ score }) => score.score_label === 'unsafe')
      if (unsafe.length === 0) return [...scores]
      await refresh(client, [...new Set(unsafe.map(({ projectUuid }) => projectUuid))])
      const marked = scores.map((placed) => withMark(placed, known.get(placed.projectUuid)?.rules, now()))
      trim()
      return marked
    },
    count: countCovered,
  }
}

function withMark(
  placed: PlacedScore,
  rules: readonly SuppressionRule[] | undefined,
  nowMs: number,
): PlacedScore {
  const { call, score } = placed
  if (score.score_label !== 'unsafe' || rules === undefined || rules.length === 0) return placed
  const { agent_name, tool_name } = call
  const covering = suppressionsOf(rules, { ...score, agent_name, tool_name }, nowMs)
  return covering.length === 0 ? placed : { ...placed, suppressions: covering.map(({ id }) => id) }
}

async function readActive(
  client: ClientBase,
  projectUuids: readonly string[],
): Promise<Map<string, SuppressionRule[]>> {
  const { rows } = await client.query<SuppressionRule & { project_id: string }>(
    `select s.* from unnest($1::uuid[]) as wanted (project_id) cross join lateral (
       select o.project_id, o.id, o.scorer_name, o.kind, o.agent_name, o.tool_name, o.has_value, o.value_hash, o.max_severity, o.expires_at
       from suppressions o where o.project_id = wanted.project_id and o.revoked_at is null and (o.expires_at is null or o.expires_at > now())
       order by o.id limit $2) s`,
    [projectUuids, maxActiveSuppressions],
  )
  return Map.groupBy(rows, ({ project_id }) => project_id)
}

async function countCovered(client: ClientBase, added: readonly PlacedScore[], lane: number): Promise<void> {
  const counts = new Map<string, { projectUuid: string; id: string; covered: number }>()
  for (const { call, projectUuid, suppressions } of added) {
    if (suppressions.length === 0 || call.run_id !== liveRunId(call.project_id)) continue
    for (const id of suppressions) {
      const key = `${projectUuid}/${id}`
      const count = counts.get(key) ?? { projectUuid, id, covered: 0 }
      counts.set(key, { ...count, covered: count.covered + 1 })
    }
  }
  if (counts.size === 0) return
  const rows = [...counts.values()]
  await client.query(
    `insert into suppression_counts as c (project_id, suppression_id, lane, covered, last_covered_at)
     select project_id, id, $4, covered, now() from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as n (project_id, id, covered) order by 1, 2
     on conflict (project_id, suppression_id, lane) do update set covered = c.covered + excluded.covered, last_covered_at = excluded.last_covered_at`,
    [
      rows.map(({ projectUuid }) => projectUuid),
      rows.map(({ id }) => id),
      rows.map(({ covered }) => covered),
      lane,
    ],
  )
}

/** Deletes suppressions that ended long ago, with their counts. Returns how many. */
export async function deleteEndedSuppressions(client: ClientBase): Promise<number> {
  const { rowCount } = await client.query(
    `with ended as (
       delete from suppressions where id in (
         select id from suppressions where least(revoked_at, expires_at) < now() - make_interval(days => $1) limit 1000)
       returning project_id, id
     ), counts as (
       delete from suppression_counts c using ended e where c.project_id = e.project_id and c.suppression_id = e.id
     ) select from ended`,
    [endedDays],
  )
  return rowCount ?? 0
}
