import { expect, test } from '@jest/globals'
import { joinEvent } from '#schemas/join-event.ts'
import { raisedEvent } from '../testing/sample-records.ts'
import { buildEnvelope } from './open-message.ts'

test('the envelope of specification 6.2, the same bytes each time', () => {
  const event = raisedEvent({
    event: 'usage_alert',
    created_at: Date.UTC(2026, 10, 21, 11, 0, 0, 7),
    fields: { text: 'π "q" \u2028' },
  })
  const build = () => buildEnvelope(event, joinEvent(event, { open: ({ data }) => data }))
  expect(JSON.parse(build().toString('utf8'))).toEqual({
    event: 'usage_alert',
    id: event.id,
    created_at: '2026-11-21T11:00:00.007Z',
    project_id: event.project_id,
    data: { text: 'π "q" \u2028' },
  })
  expect(build().equals(build())).toBe(true)
})
