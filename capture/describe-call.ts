import { billedPartsOf, type BilledParts } from './billed-parts.ts'
import { shapeOfBodies, type CallShape } from './call-shapes.ts'
import { imageToolIn, type UsageBeside } from './image-tool.ts'
import { fieldAt, textOf } from './json.ts'
import { outputEntries } from './output-entries.ts'
import { runMessages } from './platform-answers.ts'
import { unwrapped } from './payload-of.ts'
import { providerOfCall } from './providers.ts'
import { inferenceGeoOf, serviceTierOf } from './service-tier.ts'
import { statedCostOf } from './stated-cost.ts'
import { isToolCallRecord, toolCallsOf, type ToolCall } from './tool-calls.ts'
import { adviceIn, usageOf, type TokenUsage } from './usage.ts'

/** What the bodies of a call say of it. Null where they do not say. */
export interface CallDescription extends TokenUsage, BilledParts {
  shape: CallShape | null
  model: string | null
  provider: string | null
  /** `request_body.type`, for instance `mcp_tool_call`. */
  type: string | null
  /** The tool of an `mcp_tool_call`. */
  toolName: string | null
  /** The tools called: by the record itself when it is a tool call, by the answer otherwise. */
  toolCalls: readonly ToolCall[]
  /** What other models used that were asked for advice, or to draw, on the way. */
  advice: readonly UsageBeside[]
  /** US dollars that the answer says it cost. */
  statedCost: number | null
  /** The tier that the answer says it was served by. */
  serviceTier: string | null
  /**
   * Whether the answer is what is left of one that broke off: more may have been generated than it counts.
   */
  isBrokenOff: boolean
  /** Where the answer says it was made, if that may cost more. */
  inferenceGeo: string | null
}

/** Reads model, provider, tokens and tool calls out of parsed bodies. Takes any JSON and never throws. */
export function describeCall({
  requestBody,
  responseBody,
}: {
  requestBody: unknown
  responseBody?: unknown
}): CallDescription {
  const shape = shapeOfBodies(requestBody, responseBody)
  // What a tool gave is no model's answer, whatever it looks like: an agent that was asked as a tool counts and pays for itself.
  const answer = isToolCallRecord(requestBody) ? undefined : responseBody
  const model = modelOf(requestBody, answer)
  return {
    shape,
    model,
    provider: providerOfCall([model], shape),
    type: textOf(fieldAt(requestBody, 'type')) ?? null,
    toolName: shape === 'mcp_tool_call' ? (textOf(fieldAt(requestBody, 'tool_name')) ?? null) : null,
    toolCalls: toolCallsOf(requestBody, responseBody),
    advice: [...adviceIn(answer), ...imageToolIn(requestBody, answer)],
    statedCost: statedCostOf(answer),
    serviceTier: serviceTierOf(answer),
    // Of one that was too long for its record the tokens stand beside it.
    isBrokenOff: fieldAt(answer, 'truncated') === true && unwrapped(answer) === answer,
    inferenceGeo: inferenceGeoOf(answer),
    ...billedPartsOf(requestBody, answer),
    ...usageOf(answer),
  }
}

/** The answer names the exact version that was used; the request may hold an alias, or nothing (a deployment's path). */
function modelOf(requestBody: unknown, responseBody: unknown): string | null {
  return (
    textOf(fieldAt(responseBody, 'model')) ??
    textOf(fieldAt(responseBody, 'modelVersion')) ??
    [
      ...outputEntries(responseBody).map((entry) => fieldAt(entry, 'model')),
      ...runMessages(responseBody).map((message) => fieldAt(message, 'response_metadata', 'model_name')),
    ]
      .map(textOf)
      .find((model) => model !== undefined) ??
    textOf(fieldAt(requestBody, 'model')) ??
    textOf(fieldAt(requestBody, 'modelId')) ??
    null
  )
}
