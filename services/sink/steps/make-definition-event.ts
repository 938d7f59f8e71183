import type { EventData } from '#schemas/event-data.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { hashedId, idTimeMs } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { ToolDefinition } from '#schemas/tool-definition.ts'

/** `tool_definition_changed`: an MCP server says something else of a tool than it said last. */
export function makeDefinitionEvent(
  call: LoggedCall,
  { server, tool, hash }: ToolDefinition,
  previousHash: string,
): RaisedEvent {
  const data: EventData<'tool_definition_changed'> = {
    server,
    tool_name: tool,
    definition_hash: hash,
    previous_hash: previousHash,
    agent_name: call.agent_name,
    session_id: call.session_id,
    request_id: call.id,
  }
  const what = ['tool_definition_changed', call.project_id, server, tool, call.id]
  return {
    id: hashedId('event', idTimeMs(call.id), what),
    event: 'tool_definition_changed',
    project_id: call.project_id,
    created_at: call.received_at,
    data: Buffer.from(JSON.stringify(data)),
    content: null,
    content_id: null,
    webhook_id: null,
  }
}
