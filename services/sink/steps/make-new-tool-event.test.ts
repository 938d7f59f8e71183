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
