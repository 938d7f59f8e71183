import { expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import { sampleCall } from '../testing/sample-records.ts'
import { makeNewToolEvent } from './make-new-tool-event.ts'
import { withoutContent } from './without-content.ts'

test('new_tool_detected says which tool, by whom and in which call', () => {
  const call = sampleCall(newId('project'), { type: 'mcp_tool_call', tool_name: 'send_mail' })
  const event = makeNewToolEvent(call, 'send_mail')
  expect(JSON.parse(event.data.toString())).toEqual({
    tool_name: 'send_mail',
    agent_name: 'support-bot',
    session_id: 'session-1',
    request_id: call.id,
  })
  expect(makeNewToolEvent(call, 'send_mail')).toEqual(event)
  expect(makeNewToolEvent(call, 'read_mail').id).not.toBe(event.id)
})

test('new_tool_detected happened when the call came, whatever the clock of its caller says', () => {
  const receivedAtMs = Date.parse('2026-11-24T12:00:00Z')
  const callAt = (madeAtMs: number) =>
    sampleCall(newId('project'), { id: newId('request', madeAtMs), received_at: receivedAtMs })
  for (const aheadMs of [-6 * 86_400_000, 0, 3_600_000])
    expect(makeNewToolEvent(callAt(receivedAtMs + aheadMs), 'send_mail').created_at).toBe(receivedAtMs)
})

test('an event that is too large keeps its data and gets empty quotations', () => {
  const event = makeNewToolEvent(sampleCall(newId('project')), 'send_mail')
  const large = {
    ...event,
    event: 'threat_detected' as const,
    content: { codec: 'none', key_id: null, data: Buffer.alloc(9) },
    content_id: 'req_1',
  }
  const small = withoutContent(large)
  expect(small).toMatchObject({ id: event.id, content: null, content_id: null })
  expect(JSON.parse(small.data.toString())).toMatchObject({
    tool_name: 'send_mail',
    prompt_snippet: '',
    completion_snippet: null,
  })
})
