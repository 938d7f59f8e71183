import { describe, expect, test } from '@jest/globals'
import { joinEvent } from '#schemas/join-event.ts'
import { raisedEvent, webhook } from '../testing/sample-records.ts'
import { createExpressionCache } from './expression-cache.ts'
import { offerEvent, selectWebhook } from './select-webhooks.ts'

const expressions = createExpressionCache()
const threat = raisedEvent({
  fields: { severity: 'high', scorer_name: 'pii_detection', owasp_category: 'LLM02' },
})
const alert = raisedEvent({
  event: 'usage_alert',
  fields: { alert_type: 'quota_exceeded', current_count: 10_000 },
})
const newTool = raisedEvent({ event: 'new_tool_detected', fields: { tool_name: 'shell' } })

const offer = (event: typeof threat) => offerEvent(event, joinEvent(event, { open: ({ data }) => data }))
const select = (event: typeof threat, given: Parameters<typeof webhook>[0]) =>
  selectWebhook(webhook(given), offer(event), expressions)

test.each([
  ['an event that it names', threat, { events: ['threat_detected'] }, 'selected'],
  ['an event that it does not name', threat, { events: ['usage_alert'] }, 'other_event'],
  ['a new tool, told with usage alerts', newTool, { events: ['usage_alert'] }, 'selected'],
  ['a new tool, without usage alerts', newTool, { events: ['threat_detected'] }, 'other_event'],
  ['disabled', threat, { enabled: false }, 'other_event'],
  ['a severity that passes', threat, { filters: { severity: ['critical', 'high'] } }, 'selected'],
  ['a severity that does not', threat, { filters: { severity: ['critical'] } }, 'filtered'],
  [
    'both filters have to pass',
    threat,
    { filters: { severity: ['high'], scorer_name: ['jailbreak_detection'] } },
    'filtered',
  ],
  ['a filter on a field that the event lacks', alert, { filters: { severity: ['critical'] } }, 'selected'],
  ['a filter without values', threat, { filters: { severity: [] } }, 'selected'],
  ['an expression that passes', threat, { filterExpression: "data.owasp_category != 'LLM01'" }, 'selected'],
  ['an expression that does not', threat, { filterExpression: "data.severity == 'critical'" }, 'filtered'],
  [
    'an expression on the envelope',
    alert,
    { filterExpression: "event == 'usage_alert' && data.current_count >= 10000" },
    'selected',
  ],
  [
    'a field of another event reads as null',
    alert,
    { filterExpression: 'data.severity == null' },
    'selected',
  ],
  ['an expression that fails', alert, { filterExpression: 'data.severity > 3' }, 'expression_failed'],
  ['an expression that is none', alert, { filterExpression: 'data.' }, 'expression_failed'],
  [
    'filter and expression',
    threat,
    { filters: { severity: ['high'] }, filterExpression: 'false' },
    'filtered',
  ],
] as const)('%s', (_name, event, given, expected) => {
  const decision = select(event, given)
  expect([decision.selection, decision.failure !== null]).toEqual([
    expected,
    expected === 'expression_failed',
  ])
})

describe('a test event', () => {
  const one = webhook({ enabled: false, events: [], filters: { severity: ['critical'] } })
  const event = raisedEvent({ webhook_id: one.id, fields: { severity: 'medium', test: true } })

  test('goes to its webhook whatever that selects', () => {
    expect(selectWebhook(one, offer(event), expressions).selection).toBe('selected')
  })
  test('goes to no other', () => {
    expect(selectWebhook(webhook(), offer(event), expressions).selection).toBe('other_event')
  })
})
