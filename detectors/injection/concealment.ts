import { gateSource as pattern } from '../gate/gated-pattern.ts'

/**
 * Hiding from the user what is done. Manuals tell support staff what not to say: "tell the user to …",
 * "unless".
 */
export const concealment = [
  pattern(
    `\\b(?:do not|don't|never|without)\\W+(?:ever\\W+)?(?:mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|tell(?:ing)?|show(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?)\\W+(?:(?:any of|about|of)\\W+)?(?:(?:this|it|that|these(?: \\w+)?|the (?:transfer|message|note|payment|e-?mail|step|change|request|instructions?|above|following|call|file|tool))\\W+)?(?:(?:to|from|about)\\W+)?(?:the|any) users?\\b(?!\\W+(?:to|how|which|what|their|your|id|names?)\\b|[^.\\n]{0,80}\\bunless\\b)`,
  ),
  pattern(
    `\\b(?:do not|don't|never)\\W+(?:mention|reveal|disclose|show)\\W+(?:this|these) (?:instructions?|notes?|rules?|message|text|sentence|step|file|tool)\\b`,
  ),
]
