import type { FindingState } from '#schemas/event-data.ts'
import type { FindingKey } from '#schemas/finding.ts'
import type { PlacedScore } from '#services/sink/steps/place-score.ts'
import type { Severity } from '#schemas/verdicts.ts'

export interface FindingRow extends FindingKey {
  project_id: string
  id: string
  owasp_category: string | null
  severity: Severity
  state: FindingState
  muted_until: Date | null
  owner_id: string | null
  owner_login: string | null
  revision: number
  created_at: Date
  opened_at: Date
  closed_at: Date | null
  closed_by: string | null
}

export interface CounterRow {
  finding_id: string
  lane: number
  count: number
  value_count: number
  first_request_id: string
  last_request_id: string
  first_seen_at: Date
  last_seen_at: Date
}

export interface ValueRow {
  finding_id: string
  /** Hexadecimal. */
  hash: string
  lane: number
  first_request_id: string
  last_request_id: string
}

export type StoredStanding = Pick<FindingRow, 'state' | 'owner_id' | 'owner_login'> & {
  muted_until: string | null
}

export interface ChangeRow {
  finding_id: string
  revision: number
  change_id: string
  actor_kind: string | null
  before: StoredStanding
  after: StoredStanding
}

export interface ScoreRow {
  placed: PlacedScore
  run_id: string
  finding_id: string | null
}

/** Ends a transaction before its commit. */
export class Aborted extends Error {}

/** One project's rows. They are replaced, never changed, so that a transaction can be taken back. */
export class FindingTables {
  findings = new Map<string, FindingRow>()
  counters = new Map<string, CounterRow>()
  values = new Map<string, ValueRow>()
  changes = new Map<string, ChangeRow>()
  scores = new Map<string, ScoreRow>()
  calls = new Set<string>()
  /** Of the erasure that is under way. */
  erased = new Set<string>()
  events = new Map<string, { event: string; data: Record<string, unknown> }>()

  /** A transaction in one moment, as in tables/database.ts: all of it, or nothing if it throws. */
  async transact<T>(work: () => Promise<T>): Promise<T> {
    const { findings, counters, values, changes, scores, calls, events } = this
    const before = {
      ...{ findings: new Map(findings), counters: new Map(counters), values: new Map(values) },
      ...{ changes: new Map(changes), scores: new Map(scores), calls: new Set(calls) },
      events: new Map(events),
    }
    try {
      return await work()
    } catch (error) {
      Object.assign(this, before)
      throw error
    }
  }

  /** Keeps the checks of the table. */
  putFinding(row: FindingRow): void {
    const isClosed = row.state === 'resolved' || row.state === 'false_alarm'
    if ((row.state === 'muted') !== (row.muted_until !== null)) throw new Error('check: muted_until')
    if (isClosed !== (row.closed_at !== null)) throw new Error('check: closed_at')
    this.findings.set(row.id, row)
  }

  addChange(row: ChangeRow): void {
    const key = `${row.finding_id}/${row.revision}`
    if (this.changes.has(key)) throw new Error(`finding_changes has ${key} already`)
    this.changes.set(key, row)
  }

  addEvent(id: string, event: string, data: Buffer): void {
    // What exists stays.
    if (this.events.has(id)) return
    this.events.set(id, { event, data: JSON.parse(data.toString()) as Record<string, unknown> })
  }

  countersOf(findingId: string): CounterRow[] {
    return [...this.counters.values()].filter((row) => row.finding_id === findingId)
  }

  /** The newest first. */
  liveScoresOf(findingId: string, liveRunUuid: string): ScoreRow[] {
    return [...this.scores.values()]
      .filter((row) => row.finding_id === findingId && row.run_id === liveRunUuid)
      .sort((one, other) => (one.placed.requestUuid < other.placed.requestUuid ? 1 : -1))
  }
}

export const hashesOf = ({ placed }: ScoreRow): string[] =>
  (placed.score.found_values ?? []).flatMap(({ hash }) => (hash === null ? [] : [hash.toString('hex')]))
