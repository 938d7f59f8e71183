import { idFromUuid } from '#schemas/ids.ts'
import {
  maxDefinitionBytes,
  projectScorerDefinition,
  projectScorerVersion,
  type ProjectScorerDefinition,
} from '#schemas/project-scorer.ts'
import { owaspDescriptions, severitySchema, type OwaspCategory } from '#schemas/verdicts.ts'
import type { Criterion } from '../judge/criterion.ts'
import type { CustomScorer, ScorerEntry } from './custom-scorer.ts'
import { makeScorer } from './parse-scorers.ts'

/** A row of project_scorers. */
export interface ProjectScorerRow {
  id: string
  name: string
  version: number
  definition: unknown
  description: string | null
  severity: string
  owasp_category: string | null
}

/** The scorers that a project made and switched on. */
export interface ProjectScorers {
  custom: readonly CustomScorer[]
  criteria: readonly Criterion[]
  /** Rows that this version of Sluice cannot read, with the reason. Their scores say that they failed. */
  broken: readonly BrokenScorer[]
}

export interface BrokenScorer {
  name: string
  version: string
  problem: string
}

export const noProjectScorers: ProjectScorers = { custom: [], criteria: [], broken: [] }

/** Compiles a project's scorers. One that cannot be read takes none of the others with it. */
export function makeProjectScorers(rows: readonly ProjectScorerRow[]): ProjectScorers {
  const made = { custom: [] as CustomScorer[], criteria: [] as Criterion[], broken: [] as BrokenScorer[] }
  for (const row of rows) {
    const one = makeProjectScorer(row)
    if ('problem' in one) made.broken.push(one)
    else if ('sentence' in one) made.criteria.push(one)
    else made.custom.push(one)
  }
  return made
}

export function makeProjectScorer(row: ProjectScorerRow): CustomScorer | Criterion | BrokenScorer {
  const { name } = row
  const version = projectScorerVersion(idFromUuid('projectScorer', row.id), row.version)
  const broken = (problem: string): BrokenScorer => ({ name, version, problem })
  const parsed = projectScorerDefinition.safeParse(row.definition)
  const severity = severitySchema.safeParse(row.severity)
  if (!parsed.success || !severity.success) return broken('the definition is not one of this version')
  const definition = parsed.data
  if (Buffer.byteLength(JSON.stringify(definition)) > maxDefinitionBytes) return broken('is too long')
  const common = { name, version, severity: severity.data, description: row.description ?? '' }
  const category = row.owasp_category
  const owaspCategory =
    category !== null && category in owaspDescriptions ? (category as OwaspCategory) : null
  if (definition.kind === 'criterion') {
    const { criterion: sentence, looks_at: looksAt, sees } = definition
    const { unsafe_examples: unsafeExamples, safe_examples: safeExamples } = definition
    return { ...common, owaspCategory, sentence, unsafeExamples, safeExamples, looksAt, sees }
  }
  const made = makeScorer(entryOf(definition, { ...common, owaspCategory }))
  if (!made.ok) return broken(`${made.path.join('.')}: ${made.reason}`)
  return { ...made.scorer, version, isOfProject: true }
}

type PatternDefinition = Exclude<ProjectScorerDefinition, { kind: 'criterion' }>
type Common = Pick<CustomScorer, 'name' | 'severity' | 'description' | 'owaspCategory'>

function entryOf(definition: PatternDefinition, given: Common): ScorerEntry {
  const { name, severity, description, owaspCategory } = given
  const common = {
    name,
    severity,
    description,
    match_on: definition.match_on,
    ...(owaspCategory !== null && { owasp_category: owaspCategory }),
  }
  return definition.kind === 'keyword_list'
    ? { ...common, type: 'keyword_list', keywords: definition.keywords }
    : { ...common, type: 'regex', patterns: definition.patterns }
}
