import type { BilledParts } from './billed-parts.ts'
import { fieldAt, listOf, objectOf, textOf } from './json.ts'
import { partsOfUsage } from './token-parts.ts'
import { usageOf, type TokenUsage } from './usage.ts'

/** What another model used on the way to an answer, which costs what that model does. */
export interface UsageBeside {
  model: string
  usage: TokenUsage & Partial<Pick<BilledParts, 'tokenParts'>>
}

/** The name under which the price list has the model that draws where no other is named. */
const usualModel = 'image_generation'

/** What OpenAI's image tool used: it stands beside the usage of the model that called it. */
export function imageToolIn(requestBody: unknown, responseBody: unknown): UsageBeside[] {
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
