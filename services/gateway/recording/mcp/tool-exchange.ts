import { errorOfAnswer } from '#capture/answer-error.ts'
import { objectOf, parseJson, textOf, fieldAt, listOf, type JsonObject } from '#capture/json.ts'
import { fitsRecord } from '#capture/record/fits-record.ts'
import { toolListRequest } from '#capture/tool-definitions.ts'
import { faultOfTool } from '#capture/tool-fault.ts'
import { newId } from '#schemas/ids.ts'
import type { FinishedCall } from '../build-record.ts'
import { decodeCaptured } from '../decode-captured.ts'
import type { NewDefinitions } from './new-definitions.ts'
import { answersIn, readMessages, type McpRequest } from './read-messages.ts'
import type { ToolExchange } from './tool-record.ts'

/** JSON writes a character in six at most, and the name of the tool must fit too. */
const escapedLength = 8

/** An error from before the tool, as MCP's own clients word it. */
const nothingSaid = 'the server sent no result'

/**
 * The records of an exchange with an MCP server: one for each tool call, as the SDK's wrapper of MCP clients
 * makes it, and one for tools whose definition is new or has changed since this process last saw it. Empty
 * for everything else that agents and servers say.
 */
export async function toolRecordsOf(
  call: FinishedCall,
  maxBytes: number,
  newDefinitions: NewDefinitions,
): Promise<FinishedCall[]> {
  const request = await decodeCaptured(call.request, call.requestEncoding, maxBytes)
  const answer = await answerText(call, maxBytes)
  const requestText = request.bytes.toString()
  const exchanges =
    request.sha256 === null && fitsRecord(requestText)
      ? readMessages(requestText, answer.text).flatMap((each) => {
          if (each.method === 'tools/call') return toolCall(each, call, answer)
          return each.method === 'tools/list' ? toolList(each, call, newDefinitions) : []
        })
      : longToolCall(requestText.slice(0, maxBytes / escapedLength), call, answer)
  return exchanges.map((tool, at) => ({
    ...call,
    // A batch has several.
    id: at === 0 ? call.id : newId('request', Date.now() - call.latencyMs),
    labels: { ...sessionOf(call), ...call.labels },
    tool,
  }))
}

interface AnswerText {
  text: string
  isCut: boolean
}

async function answerText({ answer }: FinishedCall, maxBytes: number): Promise<AnswerText> {
  if (answer === null) return { text: '', isCut: false }
  const decoded = await decodeCaptured(answer, answer.contentEncoding, maxBytes)
  const text = decoded.bytes.toString()
  return { text, isCut: decoded.sha256 !== null || !fitsRecord(text) }
}

function sessionOf({ headers }: FinishedCall): { session_id?: string } {
  const id = headers?.['mcp-session-id']
  return typeof id === 'string' && /^[\x21-\x7e]{1,256}$/.test(id) ? { session_id: id } : {}
}

function toolCall({ params, answer }: McpRequest, call: FinishedCall, text: AnswerText): ToolExchange {
  return {
    request: {
      type: 'mcp_tool_call',
      tool_name: textOf(fieldAt(params, 'name')) ?? 'unknown',
      ...argumentsOf(fieldAt(params, 'arguments')),
    },
    ...outcomeOf(answer, call, text),
  }
}

/** As the SDK has them: an object, or another value below `value`. */
function argumentsOf(given: unknown): object {
  const value = given ?? {}
  return { arguments: objectOf(value) ?? { value } }
}

function outcomeOf(
  answer: JsonObject | undefined,
  call: FinishedCall,
  { text, isCut }: AnswerText,
): Pick<ToolExchange, 'response' | 'error'> {
  const error = answer?.['error']
  if (objectOf(error) !== undefined) return { response: null, error: protocolError(error) }
  const result = answer?.['result']
  if (result !== undefined)
    return { response: objectOf(result) ?? { result }, error: faultOfTool(result) ?? null }
  if (isCut) return { response: { text, truncated: true }, error: null }
  const said = call.error ?? errorOfAnswer(objectOf(parseJson(text)), call.status)
  return { response: null, error: said ?? nothingSaid }
}

/** As the official client throws it. */
function protocolError(error: unknown): string {
  const [code, message] = [fieldAt(error, 'code'), textOf(fieldAt(error, 'message')) ?? '']
  return `McpError: MCP error ${typeof code === 'number' ? code : 'unknown'}: ${message}`
}

/** A request longer or deeper than a record may be: its beginning shows which tool it calls, if any. */
function longToolCall(beginning: string, call: FinishedCall, text: AnswerText): ToolExchange[] {
  if (!/"method"\s*:\s*"tools\/call"/.test(beginning)) return []
  const name = /"name"\s*:\s*("(?:[^"\\]|\\.){1,256}")/.exec(beginning)?.[1]
  const request = {
    type: 'mcp_tool_call',
    tool_name: textOf(parseJson(name ?? '')) ?? 'unknown',
    arguments: { value: beginning },
    truncated: true,
  }
  return [{ request, ...outcomeOf(answersIn(text.text).at(-1), call, text) }]
}

function toolList(
  { answer }: McpRequest,
  call: FinishedCall,
  newDefinitions: NewDefinitions,
): ToolExchange[] {
  const server = call.upstream.name
  if (server === undefined) return []
  const listed = listOf(fieldAt(answer, 'result', 'tools'))
    .map(objectOf)
    .filter((tool) => tool !== undefined)
  const tools = newDefinitions(`${call.caller.projectId ?? ''}/${server}`, listed)
  if (tools.length === 0) return []
  return [{ request: toolListRequest(server, tools), response: null, error: null }]
}
