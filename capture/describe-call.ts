import { billedPartsOf, type BilledParts } from './billed-parts.ts'
import { shapeOfBodies, type CallShape } from './call-shapes.ts'
import { imageToolIn, type OtherModelUsage } from './image-tool.ts'
import { fieldAt, textOf } from './json.ts'
import { outputEntries } from './output-entries.ts'
import { runMessages } from './platform-answers.ts'
import { unwrapped } from './payload-of.ts'
import { providerOfCall } from './providers.ts'
import { inferenceGeoOf, serviceTierOf } from './service-tier.ts'
import { statedCostOf } from './stated-cost.ts'
import { isToolCallRecord, toolCallsOf, type ToolCall } from './tool-calls.ts'
import { adviceIn, usageOf, type TokenUsage } from './usage.ts'

/** What the bodies reveal about a call; null where they do not. */
export interface CallDescription extends TokenUsage, BilledParts {
  shape: CallShape | null
  model: string | null
  provider: string | null
  /** `request_body.type`, for instance `mcp_tool_call`. */
  type: string | null
  /** The tool of an `mcp_tool_call`. */
  toolName: string | null
  /** Called tools: of the record itself if it is a tool call, otherwise of the answer. */
  toolCalls: readonly ToolCall[]
  /** Usage of other models that gave advice or drew images. */
  advice: readonly OtherModelUsage[]
  /** US dollars stated by the answer. */
  statedCost: number | null
  /** Service tier stated by the answer. */
  serviceTier: string | null
  /** Whether the answer is incomplete: more may have been generated than it counts. */
  isBrokenOff: boolean
  /** Region stated by the answer, if it may affect the price. */
  inferenceGeo: string | null
}

/** Reads model, provider, tokens and tool calls from parsed bodies. Accepts any JSON and never throws. */
export function describeCall({
  requestBody,
  responseBody,
}: {
  requestBody: unknown
  responseBody?: unknown
}): CallDescription {
  const shape = shapeOfBodies(requestBody, responseBody)
  // A tool's result is no model answer, even if it looks like one: an agent used as a tool records its own
  // calls.
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
    // An answer too long for its record has its tokens in record fields.
    isBrokenOff: fieldAt(answer, 'truncated') === true && unwrapped(answer) === answer,
    inferenceGeo: inferenceGeoOf(answer),
    ...billedPartsOf(requestBody, answer),
    ...usageOf(answer),
  }
}

/**
 * The model that the bodies name. The answer names the exact version; the request may have an alias, or none
 * where the path names the model.
 */
export function modelOf(requestBody: unknown, responseBody: unknown): string | null {
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
