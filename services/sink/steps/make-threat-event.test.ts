import { describe, expect, test } from '@jest/globals'
import type { z } from 'zod'
import { deliveredEventSchema } from '#schemas/event-data.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { isId, newId } from '#schemas/ids.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'
import { makeThreatEvent, reportUrl } from './make-threat-event.ts'

const projectId = newId('project')
const dashboardUrl = 'https://sluice.example/'
const call = sampleCall(projectId)
const { data: schema } = deliveredEventSchema('threat_detected').shape as { data: z.ZodObject }
/**
 * What the data is, which with the quotations, if these are sealed, is what docs/events.md says and nothing
 * else.
 */
const dataOf = (event: RaisedEvent) => {
  const own = JSON.parse(event.data.toString()) as Record<string, unknown>
  const quotations = event.content === null ? {} : { prompt_snippet: '', completion_snippet: null }
  schema.strict().parse({ ...own, ...quotations })
  return own
}

describe('threat_detected', () => {
  test('has the fields of specification 6.4, and the snippets sealed beside them', () => {
    const scored = sampleScoredCall(call)
    const event = makeThreatEvent(
      scored,
      sampleScore(projectId, call.id, { scored_at: 1_700_000_000_000 }),
      dashboardUrl,
    )
    expect(dataOf(event)).toEqual({
      request_id: call.id,
      agent_name: 'support-bot',
      agent_tag: 'v2',
      model: 'gpt-4o-mini',
      scorer_name: 'pii_detection',
      score_label: 'fail',
      score_value: 1,
      severity: 'critical',
      owasp_category: 'LLM02',
      owasp_description: 'Sensitive Information Disclosure',
      latency_ms: 321.5,
      run_id: scored.run_id,
      report_url: `https://sluice.example/requests/${call.id}`,
      suppressed: false,
      ...{ finding_id: null, finding_state: null, first_in_finding: null },
    })
    expect(event).toMatchObject({
      event: 'threat_detected',
      project_id: projectId,
      created_at: 1_700_000_000_000,
      content: scored.content,
      content_id: call.id,
      webhook_id: null,
    })
    expect(isId('event', event.id)).toBe(true)
  })

  test('says whether a suppression covers it, and is the same event', () => {
    const [scored, score] = [sampleScoredCall(call), sampleScore(projectId, call.id)]
    const suppressed = makeThreatEvent(scored, score, dashboardUrl, {
      isSuppressed: true,
      finding: null,
    })
    expect(dataOf(suppressed)).toMatchObject({ suppressed: true })
    expect(suppressed.id).toBe(makeThreatEvent(scored, score, dashboardUrl).id)
  })

  test('names the finding that counts it', () => {
    const finding = { id: newId('finding'), state: 'muted' as const, isFirst: false }
    const [scored, score] = [sampleScoredCall(call), sampleScore(projectId, call.id)]
    expect(
      dataOf(makeThreatEvent(scored, score, dashboardUrl, { isSuppressed: false, finding })),
    ).toMatchObject({ finding_id: finding.id, finding_state: 'muted', first_in_finding: false })
  })

  test('of a tool call names the tool and the session', () => {
    const toolCall = sampleCall(projectId, { type: 'mcp_tool_call', tool_name: 'delete_file' })
    const event = makeThreatEvent(
      sampleScoredCall(toolCall),
      sampleScore(projectId, toolCall.id),
      dashboardUrl,
    )
    expect(dataOf(event)).toMatchObject({ tool_name: 'delete_file', session_id: 'session-1' })
  })

  test('without content has empty quotations, so that no field is missing', () => {
    const toolCall = sampleCall(projectId, { type: 'mcp_tool_call', tool_name: 'delete_file' })
    const event = makeThreatEvent(
      sampleScoredCall(toolCall, { content: null }),
      sampleScore(projectId, toolCall.id),
      dashboardUrl,
    )
    expect(dataOf(event)).toMatchObject({ prompt_snippet: '', completion_snippet: null, arguments: {} })
    expect(event.content_id).toBeNull()
  })

  test('of a custom scorer without a category has neither category nor description', () => {
    const score = sampleScore(projectId, call.id, { scorer_name: 'secrets', owasp_category: null })
    const event = makeThreatEvent(sampleScoredCall(call), score, dashboardUrl)
    expect(dataOf(event)).toMatchObject({ owasp_category: null, owasp_description: null })
  })

  test('has the same id when made again and another for another score', () => {
    const scored = sampleScoredCall(call)
    const [one, again, other] = ['pii_detection', 'pii_detection', 'jailbreak_detection'].map((scorer_name) =>
      makeThreatEvent(scored, sampleScore(projectId, call.id, { scorer_name }), dashboardUrl),
    )
    expect(again?.id).toBe(one?.id)
    expect(other?.id).not.toBe(one?.id)
  })
})

test('a report address has one slash before its path', () => {
  expect(reportUrl('https://d.example//', 'req_1')).toBe('https://d.example/requests/req_1')
  expect(reportUrl('https://d.example/sluice', 'req_1')).toBe('https://d.example/sluice/requests/req_1')
})
