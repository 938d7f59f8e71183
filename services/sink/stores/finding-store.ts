import type { ClientBase } from 'pg'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { makeFindingEvent } from '#schemas/finding-event.ts'
import { maxFindings, type FindingEvent, type FindingKey } from '#schemas/finding.ts'
import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import { idOfKey, keyOfFinding, keyOfOthers } from '../steps/find-finding.ts'
import { groupByFinding, type FindingGroup } from '../steps/group-findings.ts'
import type { PlacedScore } from '../steps/place-score.ts'
import { addToCounters, addValues, readSums } from './finding-counters.ts'
import { findWithoutRoom } from './finding-room.ts'
import { changeStandings, lockFindings, openFindings, type FindingStands } from './finding-states.ts'

export interface CountedFindings {
  /** The added scores with the finding that counts each. */
  added: PlacedScore[]
  /** `finding_opened` and `finding_reopened`. */
  events: RaisedEvent[]
}

/** Findings: failing live scores of one kind. */
export interface FindingStore {
  /** The scores with their findings, and how many of them the project had no room for. */
  assign(
    client: ClientBase,
    scores: readonly PlacedScore[],
  ): Promise<{ scores: PlacedScore[]; overflowCount: number }>
  /** Counts live scores that were added, once each, in the transaction that adds them. */
  count(client: ClientBase, added: readonly PlacedScore[], lane: number): Promise<CountedFindings>
}

interface FindingStoreOptions {
  now?: () => number
  dashboardUrl?: string
  maxPerProject?: number
}

export function createFindingStore({
  now = Date.now,
  dashboardUrl = '',
  maxPerProject = maxFindings,
}: FindingStoreOptions = {}): FindingStore {
  return {
    async assign(client, scores) {
      const keyed = scores.flatMap((placed) => {
        const key = keyOfFinding(placed)
        return key === undefined ? [] : [{ placed, key }]
      })
      if (keyed.length === 0) return { scores: [...scores], overflowCount: 0 }
      const live = keyed.filter(isLive)
      const without = await findWithoutRoom(
        client,
        live.map((each) => ({ projectUuid: each.placed.projectUuid, id: idToUuid(idOfKey(each)) })),
        maxPerProject,
      )
      let overflowCount = 0
      const marked = new Map(
        keyed.map(({ placed, key }) => {
          const findingUuid = idToUuid(idOfKey({ placed, key }))
          // A replay's score needs room only once its run is promoted.
          if (!isLive({ placed }) || !without.has(`${placed.projectUuid}/${findingUuid}`))
            return [placed, { ...placed, findingUuid }]
          overflowCount++
          return [placed, { ...placed, findingUuid: idToUuid(idOfKey({ placed, key: keyOfOthers(key) })) }]
        }),
      )
      return { scores: scores.map((placed) => marked.get(placed) ?? placed), overflowCount }
    },

    async count(client, added, lane) {
      const groups = groupByFinding(added, keyAsAssigned)
      if (groups.length === 0) return { added: [...added], events: [] }
      const stands = await standingsOf(client, groups, now())
      const counted = groups.filter((group) => stands.has(identityOf(group)))
      await addToCounters(client, counted, lane)
      await addValues(client, counted, lane)
      return {
        added: withFindings(added, counted, stands),
        events: await eventsOf(client, counted, stands, { atMs: now(), dashboardUrl }),
      }
    },
  }
}

const isLive = ({ placed: { call } }: { placed: PlacedScore }) => call.run_id === liveRunId(call.project_id)

const identityOf = ({ projectUuid, findingUuid }: { projectUuid: string; findingUuid: string | null }) =>
  `${projectUuid}/${findingUuid}`

/** The key by which it was assigned: its own, or that of others without room. */
function keyAsAssigned(placed: PlacedScore): FindingKey | undefined {
  const key = keyOfFinding(placed)
  if (key === undefined) return undefined
  const isOwn = placed.findingUuid === idToUuid(idOfKey({ placed, key }))
  return isOwn ? key : keyOfOthers(key)
}

/** How the groups' findings stand after these scores. A deleted project's are missing. */
async function standingsOf(
  client: ClientBase,
  groups: readonly FindingGroup[],
  nowMs: number,
): Promise<Map<string, FindingStands>> {
  const stands = await lockFindings(client, groups)
  const missing = groups.filter((group) => !stands.has(identityOf(group)))
  if (missing.length > 0) {
    for (const [identity, opened] of await openFindings(client, missing, nowMs)) stands.set(identity, opened)
    // Another sink has opened them meanwhile.
    const others = missing.filter((group) => !stands.has(identityOf(group)))
    for (const [identity, known] of await lockFindings(client, others)) stands.set(identity, known)
  }
  return changeStandings(client, groups, stands, nowMs)
}

function withFindings(
  added: readonly PlacedScore[],
  groups: readonly FindingGroup<PlacedScore>[],
  stands: ReadonlyMap<string, FindingStands>,
): PlacedScore[] {
  const firsts = new Map(groups.map((group) => [group.scores[0], stands.get(identityOf(group))]))
  const counted = new Set(groups.flatMap(({ scores }) => scores))
  return added.map((placed) => {
    const stand = stands.get(identityOf(placed))
    if (stand === undefined || placed.findingUuid === null || !counted.has(placed)) return placed
    const isFirst = firsts.get(placed)?.previousState === null
    const id = idFromUuid('finding', placed.findingUuid)
    return { ...placed, finding: { id, state: stand.state, isFirst } }
  })
}

async function eventsOf(
  client: ClientBase,
  groups: readonly FindingGroup<PlacedScore>[],
  stands: ReadonlyMap<string, FindingStands>,
  { atMs, dashboardUrl }: { atMs: number; dashboardUrl: string },
): Promise<RaisedEvent[]> {
  const changed = groups.flatMap((group) => {
    const stand = stands.get(identityOf(group))
    if (stand?.previousState === undefined) return []
    const { previousState } = stand
    const event: FindingEvent = previousState === null ? 'finding_opened' : 'finding_reopened'
    return [{ group, stand, event, previousState }]
  })
  if (changed.length === 0) return []
  const sums = await readSums(
    client,
    changed.map(({ group }) => group),
  )
  return changed.flatMap(({ group, stand, event, previousState }) => {
    const sum = sums.get(identityOf(group))
    const [first] = group.scores
    if (sum === undefined || first === undefined) return []
    const { severity, revision, state } = stand
    const finding = {
      ...{ ...group.key, ...sum, severity, revision, state, owasp_category: group.owaspCategory },
      finding_id: idFromUuid('finding', group.findingUuid),
      project_id: first.call.project_id,
      request_id: first.call.request_id,
    }
    return [makeFindingEvent(finding, { event, previousState, changedBy: null, atMs, dashboardUrl })]
  })
}
