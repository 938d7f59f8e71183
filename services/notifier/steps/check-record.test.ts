import { expect, test } from '@jest/globals'
import type { EventName } from '#schemas/event-raised.ts'
import { raisedEvent, webhookDelivery } from '../testing/sample-records.ts'
import { checkDelivery, checkEvent } from './check-record.ts'

test('nothing speaks against what others write', () => {
  expect(checkEvent(raisedEvent())).toBeUndefined()
  expect(checkDelivery(webhookDelivery())).toBeUndefined()
})

test.each([
  ['project_id', { project_id: 'prj_x' }, 'INVALID_IDENTIFIER'],
  ['id', { id: '' }, 'INVALID_IDENTIFIER'],
  ['webhook_id', { webhook_id: 'evt_00000000000000000000000000' }, 'INVALID_IDENTIFIER'],
  ['event', { event: 'nothing\0' as EventName }, 'EVENT_DATA_INVALID'],
  ['created_at', { created_at: 9e15 }, 'EVENT_DATA_INVALID'],
  ['content_id', { content_id: 'req\0' }, 'EVENT_DATA_INVALID'],
])('%s is refused by name', (field, given, code) => {
  const error = checkEvent(raisedEvent(given))
  expect(error).toMatchObject({ code })
  expect(error?.message).toContain(field)
})

test.each(['delivery_id', 'webhook_id', 'project_id'])('%s of a delivery is refused by name', (field) => {
  expect(checkDelivery(webhookDelivery({ [field]: '../x' }))?.message).toContain(field)
})
