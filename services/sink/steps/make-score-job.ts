import { contextOf } from '#schemas/call-context.ts'
import { liveRunId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'

/** The job that scores a stored call under its project's live run, by all scorers of its tier. */
export function makeScoreJob(call: LoggedCall, queuedAtMs: number): ScoreJob {
  return {
    ...contextOf(call),
    request_id: call.id,
    run_id: liveRunId(call.project_id),
    scorers: null,
    request_body: call.request_body,
    response_body: call.response_body,
    queued_at: queuedAtMs,
    masked: call.masked ?? null,
  }
}
