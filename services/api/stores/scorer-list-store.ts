import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import { projectScorerVersion, type ProjectScorerKind } from '#schemas/project-scorer.ts'
import type { Tier } from '#schemas/tiers.ts'
import { builtInScorers, owaspCategoryOf, type BuiltInScorer } from '#schemas/verdicts.ts'
import { changedFrom } from './audit-store.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

/** Why a scorer writes no score, or only `unscored` ones. */
export const blockedReasons = ['off', 'tier', 'name_in_file', 'no_judge'] as const

/** A scorer of a project, built in, of the file or its own. */
export interface ListedScorer {
  id: string | null
  name: string
  origin: 'built_in' | 'file' | 'project'
  kind: 'built_in' | 'file' | ProjectScorerKind
  description: string | null
  severity: string | null
  owasp_category: string | null
  /** That its new scores carry. Null: no scorer service has started yet. */
  version: string | null
  /** That scores by the judge carry. Null: no judge is configured, or this scorer does not use it. */
  judge_version: string | null
  enabled: boolean
  blocked_by: (typeof blockedReasons)[number] | null
  fail_at: number | null
  default_fail_at: number | null
  rescore_suggested: { from_version: string; to_version: string } | null
  updated_by: string | null
  updated_at: string | null
}

interface CatalogueRow {
  name: string
  kind: 'built_in' | 'file'
  version: string
  judge_version: string | null
  fail_at: number | null
  severity: string | null
  owasp_category: string | null
  description: string | null
  tiers: string[] | null
  changed_at: Date
}
interface OwnRow {
  id: string
  name: string
  kind: ProjectScorerKind
  description: string | null
  severity: string
  owasp_category: string | null
  enabled: boolean
  version: number
  updated_by: string
  updated_at: string
  changed_at: string
}
interface SettingsRow {
  scorer: string
  enabled: boolean
  fail_at: number | null
  updated_by: string
  updated_at: string
}

const catalogueSql = `select c.name, c.kind, c.version, c.judge_version, c.fail_at, c.severity, c.owasp_category, c.description, c.tiers, c.changed_at
  from subscriptions p join scorer_catalogue c on c.projects is null or p.project_id = any (c.projects)
  where :scope(p) order by c.kind, c.name`
// One statement, at most 90 small rows: definitions stay where they are.
const projectSql = `select u.tier, p.judge_mode,
  (select coalesce(json_agg(o order by o.name), '[]') from (
    select s.id, s.name, s.kind, s.description, s.severity, s.owasp_category, s.enabled, s.version, s.updated_by, s.updated_at,
      v.created_at as changed_at
    from project_scorers s left join project_scorer_versions v on v.scorer_id = s.id and v.version = s.version where :scope(s)) o) as own,
  (select coalesce(json_agg(t), '[]') from project_scorer_settings t where :scope(t)) as settings
  from subscriptions u join projects p on p.id = u.project_id where :scope(u)`

interface ProjectRow {
  tier: Tier
  judge_mode: string
  own: OwnRow[]
  settings: SettingsRow[]
}

/** Every scorer of the project, in the order in which they run. Undefined: unknown project. */
export async function listScorers(
  database: ProjectDatabase<OneProject>,
): Promise<ListedScorer[] | undefined> {
  const [[found], catalogue] = await Promise.all([
    database.query<ProjectRow>(projectSql),
    database.query<CatalogueRow>(catalogueSql),
  ])
  if (found === undefined) return undefined
  const { own, settings } = found
  const context = {
    tier: found.tier,
    hasJudge: found.judge_mode !== 'never' && catalogue.some((row) => row.judge_version !== null),
    settings: new Map(settings.map((row) => [row.scorer, row])),
    names: new Set(catalogue.map(({ name }) => name)),
  }
  const known = catalogue.length > 0 ? catalogue : builtInScorers.map(unstarted)
  const listed = [
    ...known.map((row) => fromCatalogue(row, context)),
    ...own.map((row) => fromProject(row, context)),
  ]
  const changed = new Map([...own, ...catalogue].map((row) => [row.name, new Date(row.changed_at)]))
  return suggestRescores(database, listed, changed)
}

interface Context {
  tier: Tier
  hasJudge: boolean
  settings: ReadonlyMap<string, SettingsRow>
  names: ReadonlySet<string>
}

/** Before the first scorer service has written the catalogue. */
function unstarted(name: BuiltInScorer): Omit<CatalogueRow, 'version'> & { version: null } {
  const nothing = { version: null, judge_version: null, fail_at: null, severity: null, description: null }
  const category = owaspCategoryOf[name]
  return {
    name,
    kind: 'built_in',
    ...nothing,
    owasp_category: category,
    tiers: null,
    changed_at: new Date(0),
  }
}

function fromCatalogue(
  row: Omit<CatalogueRow, 'version'> & { version: string | null },
  { tier, settings }: Context,
): ListedScorer {
  const own = settings.get(row.name)
  const enabled = own?.enabled ?? true
  const isOfTier = row.tiers === null || row.tiers.includes(tier)
  return {
    id: null,
    origin: row.kind,
    ...{ name: row.name, kind: row.kind, description: row.description, severity: row.severity },
    ...{ owasp_category: row.owasp_category, version: row.version, judge_version: row.judge_version },
    enabled,
    blocked_by: !enabled ? 'off' : isOfTier ? null : 'tier',
    fail_at: own?.fail_at ?? row.fail_at,
    default_fail_at: row.fail_at,
    rescore_suggested: null,
    updated_by: own?.updated_by ?? null,
    updated_at: own === undefined ? null : isoOf(own.updated_at),
  }
}

const criterionFailAt = 4

function isoOf(time: string): string {
  return new Date(time).toISOString()
}

function fromProject(row: OwnRow, { hasJudge, settings, names }: Context): ListedScorer {
  const id = idFromUuid('projectScorer', row.id)
  const version = projectScorerVersion(id, row.version)
  const isCriterion = row.kind === 'criterion'
  const { name, kind, description, severity, owasp_category, enabled, updated_by } = row
  const blocked = names.has(name) ? 'name_in_file' : !enabled ? 'off' : null
  return {
    ...{ id, name, origin: 'project', kind, description, severity, owasp_category, version, enabled },
    judge_version: isCriterion ? version : null,
    blocked_by: blocked ?? (isCriterion && !hasJudge ? 'no_judge' : null),
    fail_at: isCriterion ? (settings.get(name)?.fail_at ?? criterionFailAt) : null,
    default_fail_at: isCriterion ? criterionFailAt : null,
    rescore_suggested: null,
    updated_by,
    updated_at: isoOf(row.updated_at),
  }
}

// The newest scores from before a change, by the index of the run: at most 300 rows a changed scorer. A
// replay that was promoted takes their place, and with it the suggestion goes.
const staleSql = `
  select a.name, old.scorer_version, old.method from jsonb_to_recordset($3) as a (name text, versions text[], changed_at timestamptz)
  cross join lateral (
    select recent.scorer_version, recent.method from (
      select s.scorer_name, s.scorer_version, s.method from safety_scores s
      where :scope(s) and s.run_id = $2 and s.request_created_at < a.changed_at and s.request_created_at > a.changed_at - interval '7 days'
      order by s.request_created_at desc, s.id desc limit 300) recent
    where recent.scorer_name = a.name and recent.scorer_version <> all (a.versions) limit 1) old`

/** A change older than this concerns calls whose scores few people still look at. */
const changedWithinMs = 30 * 86_400_000

async function suggestRescores(
  database: ProjectDatabase<OneProject>,
  listed: readonly ListedScorer[],
  changed: ReadonlyMap<string, Date>,
): Promise<ListedScorer[]> {
  const asked = listed.flatMap(({ name, version, judge_version, blocked_by }) => {
    const at = changed.get(name)
    if (at === undefined || version === null || blocked_by !== null) return []
    if (at.getTime() < Date.now() - changedWithinMs) return []
    return [{ name, versions: [version, judge_version].filter((one) => one !== null), changed_at: at }]
  })
  if (asked.length === 0) return [...listed]
  const run = idToUuid(liveRunId(database.scope.projectId))
  const rows = await database.query<{ name: string; scorer_version: string; method: string }>(staleSql, [
    run,
    JSON.stringify(asked),
  ])
  const old = new Map(rows.map((row) => [row.name, row]))
  return listed.map((scorer) => {
    const found = old.get(scorer.name)
    if (found === undefined) return scorer
    const { version, judge_version } = scorer
    const to = found.method === 'judge' ? (judge_version ?? version) : version
    if (to === null) return scorer
    return { ...scorer, rescore_suggested: { from_version: found.scorer_version, to_version: to } }
  })
}

/** Settings of a scorer that the project did not make, or the threshold of its criterion. */
export interface ScorerSettings {
  enabled?: boolean | undefined
  /** Null: the default again. */
  fail_at?: number | null | undefined
}

export async function saveScorerSettings(
  database: ProjectDatabase<OneProject>,
  scorer: Pick<ListedScorer, 'name' | 'origin' | 'enabled' | 'fail_at'>,
  { enabled, fail_at }: ScorerSettings,
  { by, nowMs }: { by: string; nowMs: number },
): Promise<void> {
  const { name, origin } = scorer
  const setsThreshold = fail_at !== undefined
  const isOwn = origin === 'project'
  await database.change(
    `with own as (update project_scorers s set enabled = $4, updated_by = $7, updated_at = $8
       where :scope(s) and s.name = $2 and $3::boolean and $4::boolean is not null)
     insert into project_scorer_settings as t (project_id, scorer, enabled, fail_at, updated_by, updated_at)
     select p.project_id, $2, case when $3::boolean then true else coalesce($4, true) end, $6, $7, $8 from subscriptions p where :scope(p)
     on conflict (project_id, scorer) do update set
       enabled = case when $3::boolean then true else coalesce($4, t.enabled) end,
       fail_at = case when $5::boolean then excluded.fail_at else t.fail_at end,
       updated_by = excluded.updated_by, updated_at = excluded.updated_at
     returning t.scorer`,
    [name, isOwn, enabled ?? null, setsThreshold, fail_at ?? null, by, new Date(nowMs)],
    {
      action: 'scorer.settings_changed',
      subject: name,
      detail: changedFrom(scorer, { enabled, fail_at }),
    },
    nowMs,
  )
}
