import type { Sealer } from '#runtime/sealing.ts'
import { contextOf } from '#schemas/call-context.ts'
import { liveRunId, scoreId } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { EventContent, Score, ScoredCall } from '#schemas/safety-score-recorded.ts'
import { sealedIdentity, type SealedBytes, type SealedPart } from '#schemas/sealed-bytes.ts'
import type { Call } from '#detectors/call-text.ts'
import { createValueFinder, type Found } from './find-values.ts'
import { makeEventContent, noEventContent } from './make-event-content.ts'
import type { NamedVerdict } from '#detectors/verdict.ts'

interface Sealing {
  sealer: Sealer
  /** Of the project's value hashes; null: values are not hashed. */
  valueKey: Buffer | null
}

/** The record of a job's verdicts. Ids are equal on every attempt; what quotes the call is sealed. */
export function makeScoredCall(
  job: ScoreJob,
  call: Call | null,
  verdicts: readonly NamedVerdict[],
  { sealer, valueKey }: Sealing,
  scoredAtMs: number,
): ScoredCall {
  const findValues = createValueFinder(call, job.tool_name, job.zero_content_retention ? null : valueKey)
  const sealJson = (value: unknown, id: string, part: SealedPart): SealedBytes =>
    sealer.seal(Buffer.from(JSON.stringify(value)), sealedIdentity(job.project_id, id, part))
  const unsafe = verdicts.some(({ verdict }) => verdict.label === 'unsafe')
  const content = unsafe && call !== null ? contentOf(job, call, verdicts) : null
  return {
    ...contextOf(job),
    request_id: job.request_id,
    run_id: job.run_id,
    scores: verdicts.map((named) => {
      const id = scoreId(job.project_id, job.request_id, named.scorer, job.run_id)
      const details = sealJson(detailsOf(named, job.zero_content_retention), id, 'score_details')
      return makeScore(id, named, details, findValues(named), scoredAtMs)
    }),
    content: content === null ? null : sealJson(content, job.request_id, 'event_content'),
    // A replay has a run of its own and raises events only on request.
    raise_events: job.run_id === liveRunId(job.project_id) || job.raise_events === true,
  }
}

function contentOf(job: ScoreJob, call: Call, verdicts: readonly NamedVerdict[]): EventContent {
  return job.zero_content_retention ? noEventContent : makeEventContent(call, verdicts)
}

function makeScore(
  id: string,
  named: NamedVerdict,
  details: SealedBytes,
  found: Found,
  scoredAtMs: number,
): Score {
  const { scorer, version, owaspCategory, verdict } = named
  return {
    id,
    scorer_name: scorer,
    score_value: verdict.value,
    score_label: verdict.label,
    severity: verdict.severity,
    method: verdict.method,
    scorer_version: version,
    owasp_category: owaspCategory,
    reason: verdict.reason,
    details,
    scored_at: scoredAtMs,
    ...found,
  }
}

/** Details for people. Offsets and kinds quote nothing; rationales and judge answers may. */
function detailsOf({ verdict }: NamedVerdict, keepsNoContent: boolean) {
  const { rationale, contentFreeRationale, evidence, levels, judge } = verdict
  // JSON omits undefined.
  if (!keepsNoContent) return { rationale, evidence, levels, judge }
  const trace = judge === undefined ? undefined : { ...judge, raw_answer: undefined }
  return { rationale: contentFreeRationale, evidence, levels, judge: trace }
}
