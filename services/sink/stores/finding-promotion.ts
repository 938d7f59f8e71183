import type { ClientBase } from 'pg'
import { findingId, maxFindings, type FindingKey } from '#schemas/finding.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { Severity } from '#schemas/verdicts.ts'
import { keyOf, keyOfOthers } from '../steps/find-finding.ts'
import { worseOf, type CountableScore, type FindingGroup } from '../steps/group-findings.ts'
import { addToCounters, addValues } from './finding-counters.ts'
import { findWithoutRoom } from './finding-room.ts'
import { lockFindings, openFindings, raiseSeverities } from './finding-states.ts'
import type { CallPlace } from './lock-calls.ts'
import type { ExchangedScore } from './promotion-store.ts'
import { repairValues } from './repair-values.ts'
import { changesLane } from './rollup-tables.ts'
import { timeBounds } from './time-bounds.ts'

interface Runs {
  projectUuid: string
  liveRunUuid: string
  nowMs: number
}

interface CountedScore {
  id: string
  finding_id: string
  is_live: boolean
  request_id: string
  request_created_at: Date
  scorer_name: string
  severity: Severity
  owasp_category: string | null
  agent_name: string | null
  tool_name: string | null
  found_values: { kind: string; tool: string | null; hash: string | null }[] | null
}

/**
 * Counts exchanged scores in their findings as they are live now, and no longer as they were. State, owner
 * and comments stay, also of a finding that has no score left. A new one is opened without an event: what a
 * run finds in history is known to who promotes it.
 */
export async function moveBetweenFindings(
  client: ClientBase,
  runs: Runs,
  { exchanged, calls }: { exchanged: readonly ExchangedScore[]; calls: readonly CallPlace[] },
): Promise<void> {
  const concerned = exchanged.filter(({ finding_id }) => finding_id !== null)
  if (concerned.length === 0) return
  const scores = await gatherOthers(client, runs, await readScores(client, runs, concerned, calls))
  const groups = groupsOf(runs.projectUuid, scores)
  const known = await openNew(client, runs, groups.live)
  const counted = groups.live.filter(({ findingUuid }) => known.has(findingUuid))
  await addToCounters(client, counted, changesLane)
  await addValues(client, counted, changesLane)
  const before = await lockFindings(client, groups.before)
  const taken = groups.before.filter((group) => before.has(`${group.projectUuid}/${group.findingUuid}`))
  await addToCounters(client, taken, changesLane, -1)
  await repairValues(
    client,
    runs,
    scores.flatMap(({ is_live, request_id }) => (is_live ? [] : [request_id])),
  )
}

async function readScores(
  client: ClientBase,
  { projectUuid, liveRunUuid }: Runs,
  concerned: readonly ExchangedScore[],
  calls: readonly CallPlace[],
): Promise<CountedScore[]> {
  // With the bounds $4 and $5 Postgres skips the other days' partitions before it locks them.
  const within = (column: string) => `${column} between $4 and $5`
  const { rows } = await client.query<CountedScore>(
    `select s.id, s.finding_id, s.run_id = $2 as is_live, s.request_id, s.request_created_at, s.scorer_name, s.severity, s.owasp_category,
       r.agent_name, r.tool_name, d.found_values
     from unnest($3::uuid[]) as w (id) join safety_scores s on s.project_id = $1 and s.id = w.id and ${within('s.request_created_at')}
     join llm_requests r on r.project_id = $1 and r.id = s.request_id and r.created_at = s.request_created_at and ${within('r.created_at')}
     left join safety_score_details d on d.project_id = $1 and d.score_id = s.id and d.request_created_at = s.request_created_at
       and ${within('d.request_created_at')}
     where s.score_label = 'unsafe' and s.severity is not null and s.finding_id is not null`,
    [
      projectUuid,
      liveRunUuid,
      concerned.map(({ id }) => id),
      ...timeBounds(calls, ({ created_at }) => created_at.getTime()),
    ],
  )
  return rows
}

function groupsOf(projectUuid: string, scores: readonly CountedScore[]) {
  const groups = { live: new Map<string, FindingGroup>(), before: new Map<string, FindingGroup>() }
  for (const score of scores) {
    const { finding_id: findingUuid, severity, owasp_category: owaspCategory } = score
    const side = score.is_live ? groups.live : groups.before
    const group = side.get(findingUuid)
    if (group === undefined) {
      const one = {
        projectUuid,
        findingUuid,
        key: keyAsAssigned(projectUuid, score),
        owaspCategory,
        severity,
      }
      side.set(findingUuid, { ...one, scores: [countable(score)] })
      continue
    }
    group.severity = worseOf(group.severity, severity)
    group.scores.push(countable(score))
  }
  const inOrder = (side: ReadonlyMap<string, FindingGroup>) =>
    [...side.values()].sort((one, other) => (one.findingUuid < other.findingUuid ? -1 : 1))
  return { live: inOrder(groups.live), before: inOrder(groups.before) }
}

/** Its own, or that of others for which there was no room. */
function keyAsAssigned(projectUuid: string, score: CountedScore): FindingKey {
  const key = keyOf(score)
  const isOwn = score.finding_id === idToUuid(findingId(idFromUuid('project', projectUuid), key))
  return isOwn ? key : keyOfOthers(key)
}

function countable({ request_id, request_created_at, found_values }: CountedScore): CountableScore {
  const values = found_values?.map(({ hash }) => ({ hash: hash === null ? null : Buffer.from(hash, 'hex') }))
  return {
    requestUuid: request_id,
    requestCreatedAtMs: request_created_at.getTime(),
    score: { found_values: values ?? null },
  }
}

/** The findings that are there now: known ones, and new ones. A deleted project's are missing. */
async function openNew(
  client: ClientBase,
  { projectUuid, nowMs }: Runs,
  groups: readonly FindingGroup[],
): Promise<Set<string>> {
  const stands = await lockFindings(client, groups)
  const missing = groups.filter((group) => !stands.has(`${projectUuid}/${group.findingUuid}`))
  if (missing.length > 0) {
    for (const [identity, stand] of await openFindings(client, missing, nowMs)) stands.set(identity, stand)
    for (const [identity, stand] of await lockFindings(client, missing)) stands.set(identity, stand)
  }
  await raiseSeverities(client, groups)
  return new Set([...stands.keys()].map((identity) => identity.slice(projectUuid.length + 1)))
}

/** Live scores of new findings for which the project has no room go to their scorer's finding of others. */
async function gatherOthers(
  client: ClientBase,
  { projectUuid }: Runs,
  scores: readonly CountedScore[],
): Promise<CountedScore[]> {
  const live = scores.filter(({ is_live: isLive }) => isLive)
  const wanted = live.map(({ finding_id: id }) => ({ projectUuid, id }))
  const without = await findWithoutRoom(client, wanted, maxFindings)
  const gathered = new Map(
    live
      .filter(({ finding_id: id }) => without.has(`${projectUuid}/${id}`))
      .map((score) => [score, { ...score, finding_id: othersOf(projectUuid, score) }]),
  )
  if (gathered.size === 0) return [...scores]
  const moved = [...gathered.values()]
  await client.query(
    `update safety_scores s set finding_id = w.finding_id from unnest($2::uuid[], $3::uuid[]) as w (id, finding_id)
     where s.project_id = $1 and s.id = w.id and s.request_created_at between $4 and $5`,
    [
      projectUuid,
      moved.map(({ id }) => id),
      moved.map(({ finding_id }) => finding_id),
      ...timeBounds(moved, ({ request_created_at }) => request_created_at.getTime()),
    ],
  )
  return scores.map((score) => gathered.get(score) ?? score)
}

const othersOf = (projectUuid: string, score: CountedScore) =>
  idToUuid(findingId(idFromUuid('project', projectUuid), keyOfOthers(keyOf(score))))
