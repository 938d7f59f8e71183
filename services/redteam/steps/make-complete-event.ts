import type { EventData } from '#schemas/event-data.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { hashedId, idTimeMs } from '#schemas/ids.ts'

export interface RunCounts {
  total_probes: number
  pass_count: number
  fail_count: number
  critical_count: number
}

/**
 * `redteam_complete` (specification 6.6). Attempts neither passed nor failed could not be judged. A run has
 * one event, whichever process ends it.
 */
export function makeCompleteEvent(
  run: { id: string; projectId: string; agentName: string; startedAtMs: number },
  { total_probes, pass_count, fail_count, critical_count }: RunCounts,
  finishedAtMs: number,
  dashboardUrl: string,
): RaisedEvent {
  const data: EventData<'redteam_complete'> = {
    run_id: run.id,
    agent_name: run.agentName,
    total_probes,
    pass_count,
    fail_count,
    critical_count,
    duration_seconds: Math.max(0, Math.round((finishedAtMs - run.startedAtMs) / 1_000)),
    report_url: `${dashboardUrl.replace(/\/$/, '')}/runs/${run.id}`,
  }
  return {
    id: hashedId('event', idTimeMs(run.id), ['redteam_complete', run.projectId, run.id]),
    event: 'redteam_complete',
    project_id: run.projectId,
    created_at: finishedAtMs,
    data: Buffer.from(JSON.stringify(data)),
    content: null,
    content_id: null,
    webhook_id: null,
  }
}
