import { createHash } from 'node:crypto'
import { parse } from 'yaml'
import { z } from 'zod'
import { gradedSides, shownSurroundings } from '#schemas/project-scorer.ts'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { defaultFailAt } from '#detectors/verdict.ts'

/** The sides that a rubric can grade. */
export const sides = gradedSides
export type Side = (typeof sides)[number]

/** Further evidence for a rubric: the operator's prompt, retrieved text and tool results, tools offered. */
export const surroundings = shownSurroundings
export type Surrounding = (typeof surroundings)[number]

/** The judge's instructions for one scorer, from `evals/rubrics/<scorer>.md`. */
export interface Rubric<Scorer extends string = BuiltInScorer> {
  scorer: Scorer
  /** The author's number and a hash of the file: any changed word is a new version. */
  version: string
  /** The lowest unsafe level. */
  failAt: number
  looksAt: readonly Side[]
  sees: readonly Surrounding[]
  /** Markdown, sent to the judge unchanged. */
  text: string
}

const header = z.strictObject({
  scorer: z.enum(builtInScorers),
  version: z.number().int().min(1),
  fail_at: z.number().min(2).max(5).default(defaultFailAt),
  looks_at: z.array(z.enum(sides)).min(1),
  sees: z.array(z.enum(surroundings)).default([]),
})

/** Parses a rubric file: YAML front matter, then Markdown. Throws an Error that says what is wrong. */
export function parseRubric(file: string): Rubric {
  const [, yaml, text] = /^---\n([\s\S]*?)\n---\n([\s\S]+)$/.exec(file) ?? []
  if (yaml === undefined || text === undefined)
    throw new Error('expected YAML between two lines "---", then text')
  const parsed = header.safeParse(parse(yaml))
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error))
  const { scorer, version, fail_at, looks_at, sees } = parsed.data
  const hash = createHash('sha256').update(file).digest('hex').slice(0, 12)
  return {
    scorer,
    version: `judge-${version}-${hash}`,
    failAt: fail_at,
    looksAt: looks_at,
    sees,
    text: text.trim(),
  }
}
