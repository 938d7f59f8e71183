import { requestLimitOf, type Tier } from '#schemas/tiers.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { CallStore } from '#services/sink/stores/call-store.ts'
import type { ScoreStore } from '#services/sink/stores/score-store.ts'
import { decideDispositions } from '#services/sink/steps/decide-dispositions.ts'
import { makeNewToolEvent } from '#services/sink/steps/make-new-tool-event.ts'
import type { PlacedCall } from '#services/sink/steps/place-call.ts'
import type { Outbox } from '#services/sink/stores/outbox-store.ts'
import { addTo, type Database, type OutboxEntry } from './database.ts'

/** Like services/sink/stores/call-store.ts, without erasures. */
export function createSimCallStore(database: Database): CallStore {
  return {
    store: (calls, position, kind) =>
      database.ask(() => {
        const place = `${position.topic}/${position.partition}`
        const positionBefore = database.positions.get(place) ?? 0n
        const added = calls.filter(({ identity, call }) => isFirst(database.calls, identity, call))
        const firstTime = kind === 'kept' ? added : calls.filter(({ identity }) => isNew(database, identity))
        const events = added.flatMap((placed) => noteTools(database, placed))
        database.addEvents(events)
        for (const { call } of added) count(database, call)
        const reached = position.nextOffset > positionBefore ? position.nextOffset : positionBefore
        database.positions.set(place, reached)
        return {
          dispositions: decideDispositions(calls, {
            firstTime: new Set(firstTime.map(({ identity }) => identity)),
            erased: new Set(),
            positionBefore,
          }),
          rowCount: added.length,
          eventCount: events.length,
          overflowCount: 0,
          overflowUsers: 0,
          leftOutTools: 0,
        }
      }),
  }
}

function isFirst<T>(rows: Map<string, T>, key: string, row: T): boolean {
  if (rows.has(key)) return false
  rows.set(key, row)
  return true
}

function isNew({ ephemeral }: Database, identity: string): boolean {
  if (ephemeral.has(identity)) return false
  ephemeral.add(identity)
  return true
}

function noteTools({ tools }: Database, { call }: PlacedCall) {
  const fresh = call.tool_names.filter((tool) => !tools.has(`${call.project_id}/${tool}`))
  for (const tool of fresh) tools.add(`${call.project_id}/${tool}`)
  return fresh.map((tool) => makeNewToolEvent(call, tool))
}

function count(database: Database, call: LoggedCall): void {
  addTo(database.countedCalls, call.project_id)
  if (requestLimitOf[call.tier as Tier] === null) addTo(database.quotaCounters, call.project_id)
}

/** Like services/sink/stores/score-store.ts. */
export function createSimScoreStore(database: Database): ScoreStore {
  return {
    store: (scores, _partition, eventsOf) =>
      database.ask(() => {
        const known = scores.filter(({ projectUuid, requestUuid }) =>
          database.calls.has(`${projectUuid}/${requestUuid}`),
        )
        const added = known.filter(({ identity, call, score }) =>
          isFirst(database.scores, identity, { call, score }),
        )
        for (const { call } of added) addTo(database.countedScores, call.project_id)
        const events = eventsOf(added)
        database.addEvents(events)
        return {
          added,
          missed: scores.length - known.length,
          eventCount: events.length,
          overflowCount: 0,
          findingOverflow: 0,
        }
      }),
  }
}

/**
 * Like services/sink/stores/outbox-store.ts: a lock ends with its transaction, or with the process that held
 * it.
 */
export function createSimOutbox(database: Database): Outbox {
  return {
    async publishOldest({ maxRows }, publish) {
      const transaction = { isOpen: true, relay: database.world.current }
      const isLocked = ({ lockedBy }: OutboxEntry) =>
        lockedBy?.isOpen === true && lockedBy.relay?.isAlive === true
      try {
        const claimed = await database.ask(() => {
          const waiting = [...database.outbox.values()].filter((row) => !row.isPublished && !isLocked(row))
          const rows = waiting.slice(0, maxRows)
          for (const row of rows) row.lockedBy = transaction
          return rows
        })
        const rows = claimed.map(({ seq, event }) => ({ seq: String(seq), event }))
        if (rows.length === 0) return rows
        await publish(rows)
        await database.ask(() => {
          for (const row of claimed) row.isPublished = true
        })
        return rows
      } finally {
        transaction.isOpen = false
      }
    },
  }
}
