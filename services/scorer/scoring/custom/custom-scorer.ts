import { z } from 'zod'
import { isId } from '#schemas/ids.ts'
import {
  builtInScorers,
  customScorerName,
  owaspDescriptions,
  severitySchema,
  type OwaspCategory,
  type Severity,
} from '#schemas/verdicts.ts'
import { matchTargets, maxTerms, maxTermUnits, type MatchTarget } from '#schemas/project-scorer.ts'
import type { Evidence } from '#detectors/call-text.ts'
import type { Searchable } from './searchable.ts'

const terms = z.array(z.string().min(1).max(maxTermUnits)).min(1).max(maxTerms)
const common = {
  name: z
    .string()
    .regex(customScorerName, 'use 1 to 100 letters, digits, spaces, dots, hyphens and underscores')
    .refine(
      (name) => !(builtInScorers as readonly string[]).includes(name),
      'is the name of a built-in scorer',
    ),
  /** False: checked like the others, and not run. */
  enabled: z.boolean().optional(),
  severity: severitySchema,
  description: z.string().max(2_000).default(''),
  match_on: z.enum(matchTargets).default('request_body'),
  owasp_category: z
    .string()
    .refine(
      (category) => category in owaspDescriptions,
      `is none of ${Object.keys(owaspDescriptions).join(', ')}`,
    )
    .optional(),
  projects: z
    .array(z.string().refine((id) => isId('project', id), 'is not a project id (prj_…)'))
    .min(1)
    .optional(),
}
export const entrySchema = z.discriminatedUnion('type', [
  z.strictObject({ ...common, type: z.literal('keyword_list'), keywords: terms }),
  z.strictObject({ ...common, type: z.literal('regex'), patterns: terms }),
])
/** A valid entry of the file. Plain data: it passes between threads. */
export type ScorerEntry = z.output<typeof entrySchema>

/** One entry of scorers.yaml, compiled. */
export interface CustomScorer {
  /** The source entry. */
  entry: ScorerEntry
  name: string
  severity: Severity
  description: string
  owaspCategory: OwaspCategory | null
  matchOn: MatchTarget
  /** Null: every project. */
  projects: ReadonlySet<string> | null
  /** Changes whenever the entry does. */
  version: string
  /** Whether a project made it, not the file. */
  isOfProject: boolean
  /** Steps that a character may take: RE2 needs one for each instruction of a pattern. */
  steps: number
  /** The first matches of each keyword or pattern in a text. `kind` numbers it (`keyword 3`). */
  find(text: Searchable): Omit<Evidence, 'part' | 'pointer'>[]
}
