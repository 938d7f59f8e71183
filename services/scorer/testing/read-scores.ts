import type { Sealer } from '#runtime/sealing.ts'
import type { EventContent, Score, ScoredCall } from '#schemas/safety-score-recorded.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { until } from '#tests/support/until.ts'
import type { JudgeTrace } from '#detectors/verdict.ts'
import type { ScorerFixture } from './scorer-fixture.ts'

interface Details {
  rationale: string
  evidence: { part: string; pointer: string; start: number; end: number; kind: string }[]
  judge?: JudgeTrace
}

/** Waits for a call's scores. */
export async function scoresOf(fixture: ScorerFixture, requestId: string): Promise<ScoredCall> {
  const find = () => fixture.recorded.find((call) => call.request_id === requestId)
  await until(() => find() !== undefined)
  return find() as ScoredCall
}

export function scoreBy(scorer: string, { scores }: ScoredCall): Score {
  const found = scores.find(({ scorer_name }) => scorer_name === scorer)
  if (found === undefined) throw new Error(`no score of ${scorer}`)
  return found
}

export function detailsBy(scorer: string, call: ScoredCall, sealer: Sealer): Details {
  const { id, details } = scoreBy(scorer, call)
  if (details === null) throw new Error('no details')
  return JSON.parse(
    sealer.open(details, sealedIdentity(call.project_id, id, 'score_details')).toString(),
  ) as Details
}

export function contentOf(call: ScoredCall, sealer: Sealer): EventContent | null {
  if (call.content === null) return null
  const identity = sealedIdentity(call.project_id, call.request_id, 'event_content')
  return JSON.parse(sealer.open(call.content, identity).toString()) as EventContent
}
