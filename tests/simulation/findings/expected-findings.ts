import type { FindingState } from '#schemas/event-data.ts'
import { findingId, type FindingKey } from '#schemas/finding.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { PlacedScore } from '#services/sink/steps/place-score.ts'
import type { Severity } from '#schemas/verdicts.ts'

/** What docs/findings.md says of one finding, kept by hand: none of our code decides it. */
export interface ExpectedFinding {
  id: string
  state: FindingState
  mutedUntilMs: number | null
  severity: Severity
  ownerId: string | null
  revision: number
  /** Counted calls that were erased. */
  erased: number
}

/** What a person asks for; absent fields stay. */
export interface Asked {
  state?: FindingState
  mutedUntilMs?: number
  ownerId?: string | null
}

const worst: readonly Severity[] = ['medium', 'high', 'critical']
const mayFollow: Readonly<Record<FindingState, readonly string[]>> = {
  open: ['open', 'acknowledged', 'resolved', 'false_alarm', 'muted'],
  acknowledged: ['open', 'acknowledged', 'resolved', 'false_alarm', 'muted'],
  resolved: ['open', 'resolved', 'false_alarm'],
  false_alarm: ['open', 'resolved', 'false_alarm'],
  muted: ['open', 'acknowledged', 'resolved', 'false_alarm', 'muted'],
}

/** The state machine of findings as documented. */
export class ExpectedFindings {
  readonly all = new Map<string, ExpectedFinding>()
  /** By score: the finding that it belongs to once it is live. */
  readonly ofScore = new Map<string, string>()
  /** `event finding revision state previous`. */
  readonly events: string[] = []
  readonly #projectId: string
  readonly #maxFindings: number

  constructor(projectId: string, maxFindings: number) {
    this.#projectId = projectId
    this.#maxFindings = maxFindings
  }

  /** Where each score of a batch belongs, by the room that there is when it comes. */
  placesOf(batch: readonly PlacedScore[], liveRunUuid: string): Map<PlacedScore, string> {
    const unsafe = batch.filter(({ score, call, suppressions }) => {
      return score.score_label === 'unsafe' && call.source !== 'redteam' && suppressions.length === 0
    })
    const ofLive = unsafe.filter(({ runUuid }) => runUuid === liveRunUuid)
    const missing = [...new Set(ofLive.map((placed) => this.#idOf(keyOf(placed))))]
      .filter((id) => !this.all.has(id))
      .sort()
    const room = Math.max(0, this.#maxFindings - this.all.size)
    const without = new Set(missing.slice(room))
    return new Map(
      unsafe.map((placed) => {
        const key = keyOf(placed)
        const id = this.#idOf(key)
        const others = { ...key, evidence_kind: '', agent_name: '(other)', tool_name: '(other)' }
        const isLive = placed.runUuid === liveRunUuid
        return [placed, isLive && without.has(id) ? this.#idOf(others) : id]
      }),
    )
  }

  /** A live score that was not there before. */
  add({ score }: PlacedScore, id: string, nowMs: number): void {
    const severity = score.severity as Severity
    const known = this.all.get(id)
    if (known === undefined) {
      this.all.set(id, newFinding(id, severity))
      this.#tell('finding_opened', id, 0, 'open', null)
      return
    }
    this.worsen(known, severity)
    const isOver = known.state === 'muted' && (known.mutedUntilMs as number) <= nowMs
    if (known.state !== 'resolved' && !isOver) return
    this.#tell('finding_reopened', id, ++known.revision, 'open', known.state)
    Object.assign(known, { state: 'open', mutedUntilMs: null })
  }

  /** What a promotion makes live: new findings open without an event, and known ones keep their state. */
  promote({ score }: PlacedScore, id: string): void {
    const known = this.all.get(id)
    if (known === undefined) this.all.set(id, newFinding(id, score.severity as Severity))
    else this.worsen(known, score.severity as Severity)
  }

  worsen(known: ExpectedFinding, severity: Severity): void {
    if (worst.indexOf(severity) > worst.indexOf(known.severity)) known.severity = severity
  }

  /** Whether a person may change it so. */
  allows(id: string, { state }: Asked): boolean {
    const known = this.all.get(id)
    return known !== undefined && (state === undefined || mayFollow[known.state].includes(state))
  }

  change(id: string, { state, mutedUntilMs, ownerId }: Asked): void {
    const known = this.all.get(id) as ExpectedFinding
    const after = {
      ...known,
      ...(state !== undefined && { state, mutedUntilMs: mutedUntilMs ?? null }),
      ...(ownerId !== undefined && { ownerId }),
    }
    this.put(known, after)
  }

  /** A person's change or undo; nothing if all is as it was. */
  put(known: ExpectedFinding, after: ExpectedFinding): void {
    const fields = ['state', 'mutedUntilMs', 'ownerId'] as const
    if (fields.every((field) => known[field] === after[field])) return
    const before = known.state
    Object.assign(known, after, {
      revision: known.revision + 1,
      severity: known.severity,
      erased: known.erased,
    })
    const event = eventOf(before, known.state)
    if (event !== null) this.#tell(event, known.id, known.revision, known.state, before)
  }

  #idOf(key: FindingKey): string {
    return idToUuid(findingId(this.#projectId, key))
  }

  #tell(
    event: string,
    id: string,
    revision: number,
    state: FindingState,
    previous: FindingState | null,
  ): void {
    this.events.push(`${event} ${id} ${revision} ${state} ${previous}`)
  }
}

const newFinding = (id: string, severity: Severity): ExpectedFinding => ({
  ...{ id, severity, state: 'open', mutedUntilMs: null },
  ...{ ownerId: null, revision: 0, erased: 0 },
})

function eventOf(before: FindingState, after: FindingState): string | null {
  const [wasDone, isDone] = [before, after].map((state) => state === 'resolved' || state === 'false_alarm')
  if (before === after || after === 'muted' || (wasDone && isDone)) return null
  if (isDone) return 'finding_resolved'
  if (wasDone) return 'finding_reopened'
  return after === 'acknowledged' ? 'finding_acknowledged' : null
}

function keyOf({ call, score }: PlacedScore): FindingKey {
  const [first] = score.found_values ?? []
  return {
    ...{
      scorer_name: score.scorer_name,
      evidence_kind: first?.kind ?? '',
      agent_name: call.agent_name ?? '',
    },
    tool_name: first?.tool ?? call.tool_name ?? '',
  }
}
