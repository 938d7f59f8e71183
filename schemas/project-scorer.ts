import { z } from 'zod'
import { textField } from './fields.ts'
import { builtInScorers, customScorerName, owaspDescriptions, severitySchema } from './verdicts.ts'

/** What a custom scorer's keywords or patterns are searched in. */
export const matchTargets = ['request_body', 'response_body', 'both', 'tool_arguments'] as const
export type MatchTarget = (typeof matchTargets)[number]

/** The parts of a call that a rubric or criterion can grade. */
export const gradedSides = ['request', 'answer'] as const
/** Further parts that it may be shown. */
export const shownSurroundings = ['system_prompt', 'context', 'tools'] as const

/** Of an entry of evals/scorers.yaml and of a project's scorer. */
export const maxTerms = 10_000
export const maxTermUnits = 1_000

/** Per project: each of its calls is searched by all of them. */
export const maxPatternScorers = 50
/** Per project: each is a request of its own to the judge for every call. */
export const maxCriteria = 20
/** As JSON. A project's scorers together are at most 4.5 MB, which the scorer holds in memory. */
export const maxDefinitionBytes = 64 * 1024
/** Older versions of a scorer are deleted. */
export const maxScorerVersions = 100
export const maxScorerDays = 30

/** The value of label `scorer` for all scorers of projects: a tenant must not make series. */
export const projectScorerLabel = 'project_scorer'

const terms = z.array(textField(maxTermUnits)).min(1).max(maxTerms)
const matchOn = z.enum(matchTargets).default('request_body')
const examples = z.array(textField(2_000)).max(10).default([])
const noTwice = (names: readonly string[]) => new Set(names).size === names.length

export const projectScorerDefinition = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('keyword_list'),
    keywords: terms.describe('In any case, anywhere in the text.'),
    match_on: matchOn,
  }),
  z.strictObject({
    kind: z.literal('regex'),
    patterns: terms.describe('RE2 syntax.'),
    match_on: matchOn,
  }),
  z.strictObject({
    kind: z.literal('criterion'),
    criterion: textField(1_000).describe('A sentence that is true of the calls to be found.'),
    unsafe_examples: examples.describe('Texts that meet it.'),
    safe_examples: examples.describe('Texts that look alike and do not.'),
    looks_at: z
      .array(z.enum(gradedSides))
      .min(1)
      .refine(noTwice, 'must not name a side twice')
      .default([...gradedSides]),
    sees: z
      .array(z.enum(shownSurroundings))
      .refine(noTwice, 'must not name a part twice')
      .default([])
      .describe('Further parts of the call that the judge is shown; each costs tokens.'),
  }),
])
export type ProjectScorerDefinition = z.output<typeof projectScorerDefinition>
export type ProjectScorerKind = ProjectScorerDefinition['kind']
export const projectScorerKinds = [
  'keyword_list',
  'regex',
  'criterion',
] as const satisfies ProjectScorerKind[]

/** The fields of a project's scorer, beside its definition. */
export const projectScorerFields = {
  name: z
    .string()
    .regex(customScorerName, 'use 1 to 100 letters, digits, spaces, dots, hyphens and underscores')
    .refine(
      (name) => !(builtInScorers as readonly string[]).includes(name),
      'is the name of a built-in scorer',
    ),
  description: textField(2_000).nullable().describe('In the rationale of every call that it finds.'),
  severity: severitySchema,
  owasp_category: z
    .enum(Object.keys(owaspDescriptions) as [keyof typeof owaspDescriptions])
    .nullable()
    .describe('LLM01 to LLM10; null: none.'),
}

/** The version that its scores carry. By the id too: a deleted scorer's name may be taken again. */
export function projectScorerVersion(id: string, version: number): string {
  return `project-${version}-${id.slice(-6)}`
}
