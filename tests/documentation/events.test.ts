import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { messageOf } from '#runtime/errors.ts'
import { compileFilterExpression } from '#runtime/filter-expression.ts'
import { toFilterValues } from '#runtime/filter-values.ts'
import { deliveredEventSchema, envelopeFields, eventDataFields } from '#schemas/event-data.ts'
import { eventNames, type EventName } from '#schemas/event-raised.ts'
import { labelOf, severityOf } from '#detectors/verdict.ts'
import { labelInEvents } from '#services/sink/steps/to-event-form.ts'
import { expectPage } from '../support/documented-page.ts'
import { eventExamples, type EventExample } from './event-examples.ts'

const onlySeverity = 'data.severity == "critical"'
const onlyValue = 'data.score_value > 0.5'
const whereItIsAThreat = (expression: string) => `event != "threat_detected" || ${expression}`

test.each(eventExamples)(
  '$event: $title: the example matches the schema and has no other field',
  (example) => {
    const schema = deliveredEventSchema(example.event)
    const { data } = schema.shape as { data: z.ZodObject }
    expect(z.strictObject({ ...schema.shape, data: data.strict() }).parse(envelopeOf(example))).toEqual(
      envelopeOf(example),
    )
  },
)

test('examples of threats are what a scorer produces', () => {
  const threats = eventExamples.filter(({ event }) => event === 'threat_detected')
  expect(threats.length).toBeGreaterThan(1)
  for (const { title, data } of threats) {
    const level = Number(data['score_value']) * 4 + 1
    expect([title, data['score_label'], data['severity']]).toEqual([
      title,
      labelInEvents(labelOf(level)),
      severityOf(level),
    ])
  }
})

test('there is an example of each kind of usage_alert', () => {
  const { data } = deliveredEventSchema('usage_alert').shape as { data: z.ZodObject }
  const kinds = eventExamples
    .filter(({ event }) => event === 'usage_alert')
    .map(({ data: { alert_type: kind } }) => kind)
  expect(kinds.toSorted()).toEqual((data.shape['alert_type'] as z.ZodEnum).options.toSorted())
})

test.each([
  [onlySeverity, { threat_detected: false, usage_alert: false }],
  [whereItIsAThreat(onlySeverity), { threat_detected: false, usage_alert: true }],
  [onlyValue, { threat_detected: true, usage_alert: 'fails' }],
  [whereItIsAThreat(onlyValue), { threat_detected: true, usage_alert: true }],
])('%s decides as the page says', (expression, expected) => {
  expect(introduction).toContain(`\`${expression}\``)
  const passes = compileFilterExpression(expression, envelopeFields)
  const unknown = Object.fromEntries(eventDataFields.map((name) => [name, null]))
  const decide = (example: EventExample) => {
    const envelope = envelopeOf(example)
    try {
      return passes(toFilterValues({ ...envelope, data: { ...unknown, ...envelope.data } }))
    } catch (error) {
      expect(messageOf(error)).toContain('null')
      return 'fails'
    }
  }
  for (const example of eventExamples.filter(({ event }) => event in expected))
    expect([example.title, decide(example)]).toEqual([
      example.title,
      expected[example.event as keyof typeof expected],
    ])
})

test('docs/events.md is made from schemas/event-data.ts and shows every event', () => {
  expect(new Set(eventExamples.map(({ event }) => event))).toEqual(new Set(eventNames))
  expectPage('events.md', `${introduction}\n${eventNames.map(sectionOf).join('\n')}`)
})

const introduction = `# Events

Generated from \`schemas/event-data.ts\` by \`UPDATE_DOCS=1\`. Receivers that verify
signatures: \`docs/receivers/\`.

A webhook gets each event that it selects as one POST of JSON. Answer 2xx within 10 s; the status line
decides. Anything else, redirects included, fails the attempt. Three more attempts follow, 1 s, 2 s and 4 s
after a failure.

| header | meaning |
| --- | --- |
| \`X-Service-Signature\` | \`sha256=\` and the hexadecimal HMAC-SHA256 of the raw body; the key is the secret with \`whsec_\` |
| \`X-Service-Signature-Previous\` | the same with the old secret, during the overlap after a rotation. Accept either |
| \`X-Service-Event\` | the event's name |
| \`X-Service-Delivery\` | \`dlv_…\`: one event for one webhook, the same at every attempt |
| \`X-Service-Timestamp\` | when the attempt was made, Unix seconds; not covered by \`X-Service-Signature\` |
| \`webhook-id\`, \`webhook-timestamp\`, \`webhook-signature\` | as standard-webhooks defines; the key is the decoded base64 part of the secret |

- Delivery is at least once: remember each \`id\` and ignore repetitions.
- Order is best effort: retries arrive after younger events.
- New fields may be added; ignore unknown ones.
- \`new_tool_detected\` and \`tool_definition_changed\` go to webhooks that select \`usage_alert\`.
- Personal identifiers and secrets are masked in snippets and in names and values of \`arguments\`.
- Another rotation during the overlap ends it, because one old secret is kept.

A webhook's \`filters\` apply only to events that have the field. Its \`filter_expression\` (CEL) decides for
every event that the webhook selects. It reads \`event\`, \`id\`, \`created_at\`, \`project_id\` and \`data\`.
In \`data\`, fields of other events and absent optional fields are null:

- \`${onlySeverity}\` lets no \`usage_alert\` through. Write
  \`${whereItIsAThreat(onlySeverity)}\`.
- \`${onlyValue}\` can be saved but fails for every \`usage_alert\`: null is not comparable with
  a number. Such an event is not sent, and the webhook's \`filter_expression_error\` says so. Write
  \`${whereItIsAThreat(onlyValue)}\`.
`

function sectionOf(event: EventName): string {
  const examples = eventExamples.filter((example) => example.event === event)
  const shown = examples.map((example) => `${example.title}:\n\n${json(envelopeOf(example))}`)
  const schema = z.toJSONSchema(deliveredEventSchema(event), { io: 'input' })
  return [`## ${event}\n`, ...shown.map((text) => `${text}\n`), `JSON Schema:\n\n${json(schema)}\n`].join(
    '\n',
  )
}

function envelopeOf({ event, data }: EventExample) {
  return {
    event,
    id: 'evt_01kaq3h2v8e5s9n6c7d4f1g0hm',
    created_at: '2026-11-21T09:30:00.000Z',
    project_id: 'prj_01kaq3h2v8e5s9n6c7d4f1g0hn',
    data,
  }
}

function json(value: object): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
}
