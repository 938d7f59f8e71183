import { z } from 'zod'
import { textField } from '#schemas/fields.ts'
import { builtInScorers, owaspDescriptions, type OwaspCategory } from '#schemas/verdicts.ts'

const categories = Object.keys(owaspDescriptions) as [OwaspCategory, ...OwaspCategory[]]
const longText = textField(20_000)
const scorer = z.enum(builtInScorers)

/** `name(parameter)`: a tool offered to the target, with one text parameter. */
const toolSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,40}\([a-z][a-z0-9_]{0,40}\)$/, 'must look like name(parameter)')

const shared = {
  category: z.enum(categories),
  /** The scorer of this subject. */
  scorer,
  /** Scorers that read the answer and decide. One failure fails the probe; a pass takes all. */
  judged_by: z.array(scorer).min(1).max(5),
  source: textField(200),
  licence: textField(60),
  system: longText.optional(),
  /** Results of a search or a tool before the model answers. */
  context: longText.optional(),
  tools: z.array(toolSchema).max(10).optional(),
}

/** An attack from a file, with the file's defaults filled in. */
export const probeSchema = z
  .strictObject({
    ...shared,
    id: z.string().regex(/^[a-z0-9][a-z0-9._-]{1,79}$/, 'must be of a-z, 0-9, . _ -, 2 to 80 long'),
    goal: textField(500).optional(),
    prompt: longText.optional(),
    /** Instead of `prompt`: turns, each sent after the answer to the one before. */
    turns: z.array(longText).min(2).max(20).optional(),
  })
  .refine(
    ({ prompt, turns }) => (prompt === undefined) !== (turns === undefined),
    'needs either prompt or turns',
  )
  .transform(({ prompt, turns, ...probe }) => ({ ...probe, turns: turns ?? [prompt ?? ''] }))

export type Probe = z.output<typeof probeSchema>

/** Defaults of a file for all of its probes. */
export const fileDefaultsSchema = z.strictObject({
  ...Object.fromEntries(Object.entries(shared).map(([name, schema]) => [name, schema.optional()])),
  probes: z.array(z.unknown()).min(1).max(10_000),
})
