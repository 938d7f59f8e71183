import { PermanentError } from '#runtime/errors.ts'
import { idTimeMs, idToUuid, isId } from '#schemas/ids.ts'
import type { Score, ScoredCall } from '#schemas/safety-score-recorded.ts'
import type { FindingState } from '#schemas/event-data.ts'
import { checkIdentity } from './check-identity.ts'

/** A score as the store wants it: its keys as Postgres has them. */
export interface PlacedScore {
  call: ScoredCall
  score: Score
  projectUuid: string
  requestUuid: string
  scoreUuid: string
  runUuid: string
  /** What makes two records the same score. */
  identity: string
  /** The time of the request, Unix milliseconds: it decides the partition. */
  requestCreatedAtMs: number
  /** UUIDs of the suppressions that cover it; the first marks it. */
  suppressions: readonly string[]
  /** UUID of the finding that it belongs to once it is live; null: it belongs to none. */
  findingUuid: string | null
  /** The finding as it is after this score, which it counts; null: none does. */
  finding: CountedIn | null
}

interface CountedIn {
  id: string
  state: FindingState
  /** Whether this score opened it as a new one. */
  isFirst: boolean
}

/** Why the scores of a record can never be stored; undefined when they can. */
export function checkScoredCall(call: ScoredCall): PermanentError | undefined {
  const wrongRequest = checkIdentity(call.project_id, call.request_id)
  if (wrongRequest !== undefined) return wrongRequest
  if (!isId('run', call.run_id)) {
    return new PermanentError('INVALID_IDENTIFIER', 'run_id is not an identifier that starts with run_')
  }
  if (!call.scores.every(({ id }) => isId('score', id))) {
    return new PermanentError(
      'INVALID_IDENTIFIER',
      'the id of a score is not an identifier that starts with scr_',
    )
  }
  return undefined
}

/** The scores of a record. Throws RangeError unless it has been checked. */
export function placeScores(call: ScoredCall): PlacedScore[] {
  const projectUuid = idToUuid(call.project_id)
  const requestUuid = idToUuid(call.request_id)
  const runUuid = idToUuid(call.run_id)
  const requestCreatedAtMs = idTimeMs(call.request_id)
  return call.scores.map((score) => {
    const scoreUuid = idToUuid(score.id)
    const identity = `${projectUuid}/${scoreUuid}`
    return {
      ...{ call, score, projectUuid, requestUuid, scoreUuid, runUuid, identity, requestCreatedAtMs },
      suppressions: [],
      ...{ findingUuid: null, finding: null },
    }
  })
}
