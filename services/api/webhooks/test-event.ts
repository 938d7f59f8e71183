import type { EventData } from '#schemas/event-data.ts'
import type { selectableEvents } from '#schemas/event-raised.ts'
import { liveRunId, newId } from '#schemas/ids.ts'

interface TestEventOptions {
  projectId: string
  dashboardUrl: string
  nowMs: number
}

type SelectableEvent = (typeof selectableEvents)[number]

/** The `data` of a test event: the fields of a real one for an invented call, and `test: true`. */
export function testEventData(event: SelectableEvent, options: TestEventOptions): object {
  return { ...examples[event](options), test: true }
}

const examples = {
  threat_detected({ projectId, dashboardUrl, nowMs }: TestEventOptions) {
    const requestId = newId('request', nowMs)
    return {
      request_id: requestId,
      agent_name: 'example-agent',
      agent_tag: null,
      model: 'gpt-4o-mini',
      scorer_name: 'jailbreak_detection',
      score_label: 'fail',
      score_value: 1,
      severity: 'critical',
      owasp_category: 'LLM01',
      owasp_description: 'Prompt Injection',
      prompt_snippet: 'This is a test event.',
      completion_snippet: null,
      latency_ms: 420,
      run_id: liveRunId(projectId),
      report_url: `${dashboardUrl}/requests/${requestId}`,
    }
  },
  usage_alert({ nowMs }: TestEventOptions) {
    const now = new Date(nowMs)
    const month = (offset: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)).toISOString()
    return {
      alert_type: 'quota_exceeded',
      tier: 'free',
      limit: 10_000,
      current_count: 10_000,
      period_start: month(0),
      period_end: month(1),
    }
  },
  redteam_complete({ dashboardUrl, nowMs }: TestEventOptions) {
    const runId = newId('run', nowMs)
    return {
      run_id: runId,
      agent_name: 'example-agent',
      total_probes: 100,
      pass_count: 97,
      fail_count: 3,
      critical_count: 1,
      duration_seconds: 60,
      report_url: `${dashboardUrl}/runs/${runId}`,
    }
  },
} satisfies { [E in SelectableEvent]: (options: TestEventOptions) => EventData<E> }
