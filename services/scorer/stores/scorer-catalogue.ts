import type { Pool } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'
import { tiers } from '#schemas/tiers.ts'
import { builtInScorers, owaspCategoryOf, type BuiltInScorer } from '#schemas/verdicts.ts'
import { builtIns } from '#detectors/built-in-scorers.ts'
import type { CustomScorer } from '../scoring/custom/custom-scorer.ts'
import type { Rubric } from '../scoring/judge/rubric.ts'
import type { ScorersOfTier } from '../scoring/parse-tiers.ts'

/** A row of scorer_catalogue without its time. */
interface CatalogueRow {
  name: string
  kind: 'built_in' | 'file'
  version: string
  judge_version: string | null
  fail_at: number | null
  severity: string | null
  owasp_category: string | null
  description: string | null
  tiers: readonly string[] | null
  projects: readonly string[] | null
}

interface Running {
  custom: readonly CustomScorer[]
  tiers: ScorersOfTier
  rubrics: ReadonlyMap<BuiltInScorer, Rubric>
  hasJudge: boolean
}

/** The built-in scorers and those of the file, as this process runs them. */
export function catalogueOf({ custom, tiers: ofTier, rubrics, hasJudge }: Running): CatalogueRow[] {
  const ofBuiltIn = (name: BuiltInScorer): CatalogueRow => ({
    name,
    kind: 'built_in',
    version: builtIns[name].version,
    judge_version: hasJudge ? (rubrics.get(name)?.version ?? null) : null,
    fail_at: rubrics.get(name)?.failAt ?? null,
    severity: null,
    owasp_category: owaspCategoryOf[name],
    description: null,
    tiers: tiers.filter((tier) => ofTier[tier].includes(name)),
    projects: null,
  })
  const ofFile = (scorer: CustomScorer): CatalogueRow => ({
    name: scorer.name,
    kind: 'file',
    version: scorer.version,
    judge_version: null,
    fail_at: null,
    severity: scorer.severity,
    owasp_category: scorer.owaspCategory,
    description: scorer.description,
    tiers: null,
    projects: scorer.projects === null ? null : [...scorer.projects].map(idToUuid),
  })
  return [...builtInScorers.map(ofBuiltIn), ...custom.map(ofFile)]
}

/** The API lists these; it reads neither detectors nor the file. The last process to start or reload wins. */
export async function writeCatalogue(pool: Pool, rows: readonly CatalogueRow[]): Promise<void> {
  await inTransaction(pool, async (client) => {
    await query(client, 'delete from scorer_catalogue where name <> all ($1)', [rows.map(({ name }) => name)])
    await query(client, upsertSql, [JSON.stringify(rows)])
  })
}

// In the order of names, so that two processes do not wait for each other.
const upsertSql = `
  insert into scorer_catalogue as c (name, kind, version, judge_version, fail_at, severity, owasp_category, description, tiers, projects, changed_at)
  select name, kind, version, judge_version, fail_at, severity, owasp_category, description, tiers, projects, now()
  from jsonb_to_recordset($1) as r (name text, kind text, version text, judge_version text, fail_at double precision, severity text,
    owasp_category text, description text, tiers text[], projects uuid[])
  order by name
  on conflict (name) do update set kind = excluded.kind, version = excluded.version, judge_version = excluded.judge_version,
    fail_at = excluded.fail_at, severity = excluded.severity, owasp_category = excluded.owasp_category,
    description = excluded.description, tiers = excluded.tiers, projects = excluded.projects,
    changed_at = case when (c.version, c.judge_version) is distinct from (excluded.version, excluded.judge_version)
      then now() else c.changed_at end`
