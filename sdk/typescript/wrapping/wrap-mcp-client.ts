import { fieldAt, textOf } from '../../../capture/json.ts'
import { faultOfTool } from '../../../capture/tool-fault.ts'
import { messageOf } from '../capturing/message-of.ts'
import type { ToolCall } from '../types.ts'

interface McpClient {
  callTool: (...given: unknown[]) => Promise<unknown>
}

/** A Model Context Protocol client, recognised by its methods. */
export function isMcpClient(client: object): client is McpClient {
  return hasMethod(client, 'callTool') && hasMethod(client, 'listTools')
}

function hasMethod(client: object, name: string): boolean {
  return typeof (client as Record<string, unknown>)[name] === 'function'
}

/** Records the arguments and the result or error of `callTool`; the client stays the same otherwise. */
export function wrapMcpClient(client: McpClient, record: (call: ToolCall) => void): void {
  const original = client.callTool.bind(client)
  client.callTool = async (...given) => {
    const startMs = performance.now()
    const asked = {
      toolName: textOf(fieldAt(given[0], 'name')) ?? 'unknown',
      arguments: fieldAt(given[0], 'arguments'),
    }
    const tookMs = () => performance.now() - startMs
    let result: unknown
    try {
      result = await original(...given)
    } catch (error) {
      record({ ...asked, error: messageOf(error), latencyMs: tookMs() })
      throw error
    }
    record({ ...asked, result, error: faultOfTool(result), latencyMs: tookMs() })
    return result
  }
}
