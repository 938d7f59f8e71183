import type { Suspicion } from '../phrases/suspect.ts'

/** Work on a prompt for somebody's own bot, which says what the bot must do and hide. */
const writes =
  /\b(?:write|draft|create|design|improve|review|rewrite|generate|make|give me|suggest|need|want|develop|refine|fix|edit)\W+(?:\w+\W+){0,4}?(?:(?:system|custom)\W+)?(?:prompts?|instructions)\W+(?:for|that|which|to|so)\b/i
/** These are said to the model that reads, whatever it is to write. */
const said = new Set([
  'override_instructions',
  'override_in_another_language',
  'known_jailbreak',
  'adversarial_suffix',
])
/** A prompt for a bot is no longer than this. */
const maxUnits = 1_500
/** Left to the judge; 4 convict. */
const writingPoints = 3

/** Lowers the suspicion below conviction where a text asks for a prompt to be written. */
export function discountPromptWriting(text: string, suspicion: Suspicion): Suspicion {
  const { points, kinds } = suspicion
  if (points <= writingPoints || text.length > maxUnits || kinds.some((kind) => said.has(kind)))
    return suspicion
  return writes.test(text) ? { ...suspicion, points: writingPoints } : suspicion
}
