import { expect, test } from '@jest/globals'
import { compileFilterExpression } from '#runtime/filter-expression.ts'
import { toFilterValues } from '#runtime/filter-values.ts'
import { envelopeFields } from '#schemas/event-data.ts'
import { selectableEvents } from '#schemas/event-raised.ts'
import { newId } from '#schemas/ids.ts'
import { expressionValues } from '#schemas/join-event.ts'
import { testEventData } from '../webhooks/test-event.ts'
import { bodyExamples } from './body-examples.ts'

interface WebhookBody {
  events?: (typeof selectableEvents)[number][]
  filter_expression?: string
}

const withExpression = Object.entries(bodyExamples as Record<string, WebhookBody>).flatMap(([name, body]) =>
  body.filter_expression === undefined ? [] : [{ name, ...body, expression: body.filter_expression }],
)

test('there are examples of expressions', () => {
  expect(withExpression.length).toBeGreaterThan(1)
})

test.each(withExpression)(
  'the expression of $name lets each event through that is asked for',
  ({ expression, events }) => {
    const projectId = newId('project')
    const passes = compileFilterExpression(expression, envelopeFields)
    for (const event of events ?? selectableEvents) {
      const fields = testEventData(event, { projectId, dashboardUrl: '', nowMs: 0 })
      const raised = { id: newId('event'), event, project_id: projectId, created_at: 0 }
      const values = expressionValues(
        { ...raised, data: Buffer.alloc(0), content: null, content_id: null, webhook_id: null },
        { fields: fields as Record<string, unknown>, json: () => '' },
      )
      expect([event, passes(toFilterValues(values))]).toEqual([event, true])
    }
  },
)
