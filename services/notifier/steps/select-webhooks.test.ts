import { describe, expect, jest, test } from '@jest/globals'
import { createTakeTurn } from '#runtime/take-turns.ts'
import { newId } from '#schemas/ids.ts'
import { joinEvent } from '#schemas/join-event.ts'
import { raisedEvent, webhook } from '../testing/sample-records.ts'
import { createExpressionCache } from './expression-cache.ts'
import { offerEvent, selectWebhooks } from './select-webhooks.ts'

// Some take over 30 s beside two other test runs on two cores.
jest.setTimeout(120_000)

const expressions = createExpressionCache()
const threat = raisedEvent({
  fields: { severity: 'high', scorer_name: 'pii_detection', owasp_category: 'LLM02' },
})
const alert = raisedEvent({
  event: 'usage_alert',
  fields: { alert_type: 'quota_exceeded', current_count: 10_000 },
})
const changedTool = raisedEvent({ event: 'tool_definition_changed', fields: { tool_name: 'shell' } })
const newTool = raisedEvent({ event: 'new_tool_detected', fields: { tool_name: 'shell' } })

const offer = (event: typeof threat) => offerEvent(event, joinEvent(event, { open: ({ data }) => data }))
/** By a clock on which each expression takes so long. */
const selectAll = (event: typeof threat, webhooks: readonly ReturnType<typeof webhook>[], eachMs = 1_000) => {
  let nowMs = 0
  return selectWebhooks(webhooks, offer(event), expressions, createTakeTurn(), () => (nowMs += eachMs))
}

test.each([
  ['an event that it names', threat, { events: ['threat_detected'] }, 'selected'],
  ['an event that it does not name', threat, { events: ['usage_alert'] }, 'other_event'],
  ['a new tool, told with usage alerts', newTool, { events: ['usage_alert'] }, 'selected'],
  ['a changed tool, told with usage alerts', changedTool, { events: ['usage_alert'] }, 'selected'],
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
] as const)('%s', async (_name, event, given, expected) => {
  const decisions = await selectAll(event, [webhook(given)])
  expect(decisions.map(({ selection, failure }) => [selection, failure !== null])).toEqual([
    [expected, expected === 'expression_failed'],
  ])
})

describe('a test event', () => {
  const one = webhook({ enabled: false, events: [], filters: { severity: ['critical'] } })
  const event = raisedEvent({ webhook_id: one.id, fields: { severity: 'medium', test: true } })

  test('goes to its webhook whatever that selects, and to no other', async () => {
    const decisions = await selectAll(event, [one, webhook()])
    expect(new Map(decisions.map(({ webhook, selection }) => [webhook.id === one.id, selection]))).toEqual(
      new Map([
        [true, 'selected'],
        [false, 'other_event'],
      ]),
    )
  })
})

describe('expressions of a project that cost much together', () => {
  const event = raisedEvent({ fields: { severity: 'high', arguments: { text: 'a'.repeat(65_000) } } })
  // Each nearly what one evaluation may cost, so fifty are what an event may.
  const dear = (word: string) =>
    Array(14).fill("data.arguments.text.contains('ab')").join(' || ') + ` || data.severity == '${word}'`
  const made = (filterExpressions: readonly (string | null)[]) => {
    const ids = filterExpressions.map(() => newId('webhook')).sort()
    return filterExpressions.map((filterExpression, index) =>
      webhook({ id: ids[index] as string, filterExpression }),
    )
  }
  const times = (count: number, make: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => make(index))

  test('fail beyond their budget, the youngest first, and cheap ones are told all the same', async () => {
    const webhooks = made([
      ...times(150, (index) => dear(`x${index}`)),
      ...times(150, (index) => `data.severity == 'high' && data.agent_name != 'x${index}'`),
      null,
    ])
    const decisions = await selectAll(event, webhooks.toReversed())
    expect(decisions.map(({ webhook }) => webhook.id)).toEqual(webhooks.map(({ id }) => id))
    const selections = decisions.map(({ selection }) => selection)
    expect(new Set(selections.slice(150))).toEqual(new Set(['selected']))
    const isOver = selections.indexOf('expression_failed')
    expect(isOver).toBeGreaterThan(20)
    expect(new Set(selections.slice(0, isOver))).toEqual(new Set(['filtered']))
    expect(decisions[149]?.failure).toContain('the filter expressions of the project cost too much')
  })

  test('fail only when they have taken as long as they may', async () => {
    const webhooks = made(times(150, (index) => dear(`y${index}`)))
    const failed = async (eachMs: number) =>
      (await selectAll(event, webhooks, eachMs)).filter(({ selection }) => selection === 'expression_failed')
    expect(await failed(3)).toEqual([])
    expect((await failed(6)).length).toBeGreaterThan(0)
  })

  test('are evaluated once where they are equal', async () => {
    const decisions = await selectAll(event, made(times(300, () => dear('high'))))
    expect(new Set(decisions.map(({ selection }) => selection))).toEqual(new Set(['selected']))
  })

  test('pay for being compiled', async () => {
    const decisions = await selectAll(
      event,
      made(times(150, (index) => `data.severity == '${'x'.repeat(1_900)}${index}'`)),
    )
    expect(decisions.at(-1)?.selection).toBe('expression_failed')
    expect(decisions[0]?.selection).toBe('filtered')
  })
})
