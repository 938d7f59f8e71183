import { idToUuid, liveRunId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { topics } from '#schemas/topics.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import type { ClientCall } from '../parts/clients.ts'
import { quotaLimit } from '../parts/load.ts'
import type { Receipt } from '../parts/receivers.ts'
import { scorersOfAll, unsafeWord } from '../parts/scorers.ts'
import { killerMetadata } from '../parts/sinks.ts'
import type { Database } from '../tables/database.ts'
import type { TopicIndex } from './topic-index.ts'
import { wants } from './watch-offsets.ts'

/** The state after a seed. */
export interface End {
  calls: readonly ClientCall[]
  database: Database
  index: TopicIndex
  receipts: readonly Receipt[]
  /** Processes that died by chance (world.ts). */
  losses: number
  /**
   * One notifier, and no process died, stopped or was paused: every outcome is known and nothing needs a
   * resend.
   */
  isUndisturbed: boolean
}

/** Compares what clients were told with the final state. Returns the problems. */
export function checkEnd(end: End): string[] {
  return [
    ...checkLetters(end),
    ...checkCalls(end),
    ...checkCounters(end),
    ...checkScores(end),
    ...checkEvents(end),
    ...checkDeliveries(end),
  ]
}

const keyOf = ({ project, id }: ClientCall) => `${idToUuid(project.project.projectId)}/${idToUuid(id)}`

/** Only records that deserve it are dead-lettered. */
function checkLetters(end: End): string[] {
  const expected = new Set(['UNDECODABLE', 'INVALID_IDENTIFIER', 'NO_PARTITION', 'CRASHED'])
  const wrong = [...end.index.letters]
    .filter(([, code]) => !expected.has(code))
    .map(([place, code]) => `${place} was dead-lettered as ${code}`)
  // By chance, processes can die three times at a harmless record. Next to a record that kills, once is
  // enough.
  const isBadLuck = end.losses >= (killersOf(end) > 0 ? 1 : 3)
  if (isBlamed(end) && !isBadLuck) wrong.push('a harmless record was blamed for the end of a process')
  return wrong
}

function killersOf({ index }: End): number {
  return [...index.calls.values()].filter(({ metadata }) => metadata === killerMetadata).length
}

/** Whether a harmless record was dead-lettered, so its effects may be missing. */
function isBlamed(end: End): boolean {
  const blamed = [...end.index.letters.values()].filter((code) => code === 'CRASHED').length
  return blamed > killersOf(end)
}

/** Every accepted call is stored once; no refused call is. */
function checkCalls(end: End): string[] {
  return end.calls.flatMap((call) => {
    const isStored = end.database.calls.has(keyOf(call))
    if (call.end === 'none') return [`${call.id} was never answered`]
    if (call.end === 'taken') return isStored || isBlamed(end) ? [] : [`${call.id} was taken and is lost`]
    return isStored ? [`${call.id} was refused and is stored`] : []
  })
}

/** Counters and roll-ups equal a recount; the quota is exact. */
function checkCounters({ calls, database }: End): string[] {
  const wrong: string[] = []
  const rows = Map.groupBy(database.calls.values(), ({ project_id: project }) => project)
  for (const [project, counted] of database.countedCalls) {
    const stored = rows.get(project)?.length ?? 0
    if (counted !== stored) wrong.push(`${project} has ${stored} calls and ${counted} in its roll-ups`)
  }
  const scores = Map.groupBy(database.scores.values(), ({ call }) => call.project_id)
  for (const [project, counted] of database.countedScores) {
    const stored = scores.get(project)?.length ?? 0
    if (counted !== stored) wrong.push(`${project} has ${stored} scores and ${counted} in its roll-ups`)
  }
  for (const [project, sent] of Map.groupBy(calls, (call) => call.project.project.projectId)) {
    const counter = database.quotaCounters.get(project) ?? 0
    const { tier } = (sent[0] as ClientCall).project.project
    if (tier === 'enterprise' && counter !== (rows.get(project)?.length ?? 0))
      wrong.push(`${project} has used ${counter} and stored ${rows.get(project)?.length ?? 0}`)
    if (tier !== 'free') continue
    const taken = sent.filter(({ end }) => end === 'taken').length
    if (taken > quotaLimit) wrong.push(`${project} may send ${quotaLimit} and ${taken} were taken`)
    if (taken < Math.min(quotaLimit, sent.length))
      wrong.push(`${project} may send ${quotaLimit} and only ${taken} of ${sent.length} were taken`)
    if (counter !== taken) wrong.push(`${project} has used ${counter} and ${taken} were taken`)
  }
  return wrong
}

/** Each stored call has one score per scorer, and every score belongs to a stored call. */
function checkScores(end: End): string[] {
  const { database } = end
  const wrong: string[] = []
  const expected = new Set<string>()
  for (const call of database.calls.values()) {
    for (const scorer of scorersOfAll) {
      const id = scoreId(call.project_id, call.id, scorer, liveRunId(call.project_id))
      const key = `${idToUuid(call.project_id)}/${idToUuid(id)}`
      expected.add(key)
      if (!database.scores.has(key) && !isBlamed(end)) wrong.push(`${call.id} has no ${scorer}`)
    }
  }
  for (const [key, { call }] of database.scores)
    if (!expected.has(key)) wrong.push(`${call.request_id} has a score too many`)
  return wrong
}

/** Unsafe scores and first uses of tools raised their events, once each, and nothing else did. */
function checkEvents({ database, index, calls }: End): string[] {
  const wrong: string[] = []
  const stored = [...database.scores.values()]
  const unsafe = stored.filter(({ score }) => score.score_label === 'unsafe').length
  const tools = new Set(
    [...database.calls.values()].flatMap((call: LoggedCall) =>
      call.tool_names.map((tool) => `${call.project_id}/${tool}`),
    ),
  ).size
  const said = (call: ClientCall) => JSON.stringify(call.body).includes(unsafeWord)
  const unsafeCalls = calls.filter((call) => said(call) && database.calls.has(keyOf(call))).length
  if (unsafe > unsafeCalls) wrong.push(`${unsafeCalls} unsafe calls have ${unsafe} unsafe scores`)
  if (database.outbox.size !== unsafe + tools)
    wrong.push(`${unsafe} unsafe scores and ${tools} tools have raised ${database.outbox.size} events`)
  for (const { event, isPublished } of database.outbox.values()) {
    if (!isPublished) wrong.push(`${event.id} waits in the outbox`)
    if (!index.events.has(event.id)) wrong.push(`${event.id} is marked and was not published`)
  }
  for (const id of index.events.keys())
    if (!database.outbox.has(id)) wrong.push(`${id} was published and never raised`)
  return wrong
}

/**
 * Each event has one delivery per webhook that wants it. Each is delivered, or dead after four failed
 * attempts.
 */
function checkDeliveries(end: End): string[] {
  const { database, index, receipts } = end
  const wrong: string[] = []
  const expected = new Set(
    [...index.events.values()].flatMap((event) =>
      database.webhooks
        .filter((webhook) => wants(webhook, event))
        .map((webhook) => deliveryId(event, webhook.id)),
    ),
  )
  for (const id of expected) if (!database.deliveries.has(id) && !isBlamed(end)) wrong.push(`${id} is lost`)
  const received = Map.groupBy(receipts, ({ deliveryId: id }) => id)
  for (const [id, { status, attempts, attemptCount }] of database.deliveries) {
    if (!expected.has(id)) wrong.push(`${id} is a delivery too many`)
    const sent = received.get(id) ?? []
    const isDead = index.deliveries.has(`${topics.deliveryDead.name}/${id}/4`)
    if (status === 'delivered' && !sent.some(({ isTaken }) => isTaken))
      wrong.push(`${id} counts as delivered and was not`)
    if (status === 'failed' && !(isDead && attemptCount === 4)) wrong.push(`${id} failed and is not dead`)
    if (status !== 'delivered' && status !== 'failed' && !isBlamed(end)) wrong.push(`${id} stays ${status}`)
    const claims = [...attempts.values()].reduce((sum, attempt) => sum + attempt.claims, 0)
    if (end.isUndisturbed && sent.length > attempts.size)
      wrong.push(`${id} was sent ${sent.length} times in ${attempts.size} attempts`)
    if (sent.length > claims) wrong.push(`${id} was sent ${sent.length} times for ${claims} claims`)
  }
  for (const id of received.keys())
    if (!database.deliveries.has(id)) wrong.push(`${id} was sent and is no delivery`)
  if (database.waiting.size > 0) wrong.push(`${database.waiting.size} deliveries wait for ever`)
  return wrong
}
