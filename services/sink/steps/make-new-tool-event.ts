import type { EventData } from '#schemas/event-data.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { hashedId, idTimeMs } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'

/**
 * `new_tool_detected`: an agent called a tool by a name new to its project (specification 6.1). Its time is
 * when the call was received: by the time of a call sent days late, its deliveries would be deleted as old.
 */
export function makeNewToolEvent(call: LoggedCall, toolName: string): RaisedEvent {
  const data: EventData<'new_tool_detected'> = {
    tool_name: toolName,
    agent_name: call.agent_name,
    session_id: call.session_id,
    request_id: call.id,
  }
  return {
    id: hashedId('event', idTimeMs(call.id), ['new_tool_detected', call.project_id, toolName]),
    event: 'new_tool_detected',
    project_id: call.project_id,
    created_at: call.received_at,
    data: Buffer.from(JSON.stringify(data)),
    content: null,
    content_id: null,
    webhook_id: null,
  }
}
