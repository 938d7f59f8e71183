import type { BilledParts } from './billed-parts.ts'
import { fieldAt, listOf, objectOf, textOf } from './json.ts'
import { partsOfUsage } from './token-parts.ts'
import { usageOf, type TokenUsage } from './usage.ts'

/** Usage of another model within an answer, billed at that model's price. */
export interface OtherModelUsage {
  model: string
  usage: TokenUsage & Partial<Pick<BilledParts, 'tokenParts'>>
}

/** Name in the price list for the image model when no other is named. */
const usualModel = 'image_generation'

/** Usage of OpenAI's image tool, which is reported beside that of the calling model. */
export function imageToolIn(requestBody: unknown, responseBody: unknown): OtherModelUsage[] {
  const used = fieldAt(responseBody, 'tool_usage', 'image_gen')
  if (objectOf(used) === undefined) return []
  const model = [responseBody, requestBody]
    .flatMap((body) => listOf(fieldAt(body, 'tools')))
    .filter((tool) => fieldAt(tool, 'type') === 'image_generation')
    .map((tool) => textOf(fieldAt(tool, 'model')))
    .find((name) => name !== undefined)
  const usage = { ...usageOf({ usage: used }), tokenParts: partsOfUsage(used) }
  const isUsed = (usage.promptTokens ?? 0) + (usage.completionTokens ?? 0) > 0
  return isUsed ? [{ model: model ?? usualModel, usage }] : []
}
