import { createHash } from 'node:crypto'
import { parse } from 'yaml'
import { z } from 'zod'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { defaultFailAt } from '../verdict.ts'

/** The two things that a rubric can give a level to. */
export const sides = ['request', 'answer'] as const
export type Side = (typeof sides)[number]

/** What else of a call a rubric is applied with: the operator's prompt, what searches and tools brought in, the tools offered. */
export const surroundings = ['system_prompt', 'context', 'tools'] as const
export type Surrounding = (typeof surroundings)[number]

/** What the judge is told to look for, from `evals/rubrics/<scorer>.md`. */
export interface Rubric {
  scorer: BuiltInScorer
  /** The author's number and a hash of the whole file: a changed word is another rubric. */
  version: string
  /** The least level that is unsafe. */
  failAt: number
  looksAt: readonly Side[]
  sees: readonly Surrounding[]
  /** Markdown; goes to the judge as it stands. */
  text: string
}

const header = z.strictObject({
  scorer: z.enum(builtInScorers),
  version: z.number().int().min(1),
  fail_at: z.number().min(2).max(5).default(defaultFailAt),
  looks_at: z.array(z.enum(sides)).min(1),
  sees: z.array(z.enum(surroundings)).default([]),
})

/** Reads a rubric file: YAML between two lines of three hyphens, then Markdown. Throws an Error that says what is wrong. */
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
