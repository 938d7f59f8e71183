import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import {
  maxCriteria,
  maxPatternScorers,
  maxScorerVersions,
  projectScorerVersion,
  type ProjectScorerDefinition,
  type ProjectScorerKind,
} from '#schemas/project-scorer.ts'
import type { OwaspCategory, Severity } from '#schemas/verdicts.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

/** What a project's scorer says and finds. A change of any of these is a new version. */
export interface ProjectScorerInput {
  definition: ProjectScorerDefinition
  description: string | null
  severity: Severity
  owasp_category: OwaspCategory | null
}

export interface ProjectScorer extends ProjectScorerInput {
  id: string
  project_id: string
  name: string
  enabled: boolean
  version: number
  /** The version that its scores carry. */
  scorer_version: string
  created_by: string
  updated_by: string
  created_at: string
  updated_at: string
}

export interface ProjectScorerVersion extends ProjectScorerInput {
  version: number
  created_by: string
  created_at: string
}

type Row = Omit<ProjectScorer, 'created_at' | 'updated_at' | 'scorer_version'> & {
  created_at: Date
  updated_at: Date
}

const columns = `s.id, s.project_id, s.name, s.definition, s.description, s.severity, s.owasp_category, s.enabled, s.version,
  s.created_by, s.updated_by, s.created_at, s.updated_at`
const versionColumns = `project_id, scorer_id, version, name, definition, description, severity, owasp_category, created_by, created_at`

export function maxOfKind(kind: ProjectScorerKind): number {
  return kind === 'criterion' ? maxCriteria : maxPatternScorers
}

/** Undefined: unknown project, its limit, or the name is taken. */
export async function createProjectScorer(
  database: ProjectDatabase<OneProject>,
  { id, name, enabled, by }: { id: string; name: string; enabled: boolean; by: string },
  input: ProjectScorerInput,
  nowMs: number,
): Promise<ProjectScorer | undefined> {
  const { definition, description, severity, owasp_category } = input
  const rows = await database.change<Row>(
    `with s as (
       insert into project_scorers (id, project_id, name, kind, definition, description, severity, owasp_category, enabled, version,
         created_by, updated_by, created_at, updated_at)
       select $2, p.project_id, $3, $4::text, $5, $6, $7, $8, $9, 1, $10, $10, $11, $11 from subscriptions p
       where :scope(p) and ${faultSql} is null
       returning *),
     v as (insert into project_scorer_versions (${versionColumns})
       select s.project_id, s.id, s.version, s.name, s.definition, s.description, s.severity, s.owasp_category, s.created_by, s.created_at from s)
     select ${columns} from s`,
    [
      idToUuid(id),
      name,
      definition.kind,
      JSON.stringify(definition),
      description,
      severity,
      owasp_category,
      enabled,
      by,
      new Date(nowMs),
      maxOfKind(definition.kind),
    ],
    { action: 'project_scorer.created', subject: id, detail: { name, enabled, ...summaryOf(input) } },
    nowMs,
    true,
  )
  return rows.map(scorerOf)[0]
}

// $3 is the name, $4 the kind and $12 how many of it a project may have.
const faultSql = `case
  when exists (select from project_scorers o where :scope(o) and o.name = $3) then 'name_of_project'
  when exists (select from scorer_catalogue c where c.name = $3 and (c.projects is null or $1 = any (c.projects))) then 'name_of_file'
  when (select count(*) from project_scorers o where :scope(o) and (o.kind = 'criterion') = ($4::text = 'criterion')) >= $12 then 'too_many'
end`
const askFaultSql = faultSql.replaceAll('$3', '$2').replaceAll('$4', '$3').replaceAll('$12', '$4')

/** Why a scorer could not be made; null: nothing is in the way. */
export async function faultOfNewScorer(
  database: ProjectDatabase<OneProject>,
  name: string,
  kind: ProjectScorerKind,
): Promise<'name_of_project' | 'name_of_file' | 'too_many' | null> {
  const rows = await database.query<{ fault: 'name_of_project' | 'name_of_file' | 'too_many' | null }>(
    `select ${askFaultSql} as fault`,
    [name, kind, maxOfKind(kind)],
  )
  return rows[0]?.fault ?? null
}

export async function findProjectScorer(
  database: ProjectDatabase<OneProject>,
  id: string,
): Promise<ProjectScorer | undefined> {
  const rows = await database.query<Row>(
    `select ${columns} from project_scorers s where :scope(s) and s.id = $2`,
    [idToUuid(id)],
  )
  return rows.map(scorerOf)[0]
}

/** `input`: complete, as it is to be; undefined: the version stays. */
export async function changeProjectScorer(
  database: ProjectDatabase<OneProject>,
  before: ProjectScorer,
  { input, enabled, by }: { input: ProjectScorerInput | undefined; enabled: boolean; by: string },
  nowMs: number,
): Promise<ProjectScorer | undefined> {
  const { definition, description, severity, owasp_category } = input ?? before
  const rows = await database.change<Row>(
    `with s as (
       update project_scorers s set definition = $3, description = $4, severity = $5, owasp_category = $6, enabled = $7,
         version = s.version + $8::integer, updated_by = $9, updated_at = $10
       where :scope(s) and s.id = $2 and s.version = $11
       returning *),
     v as (insert into project_scorer_versions (${versionColumns})
       select s.project_id, s.id, s.version, s.name, s.definition, s.description, s.severity, s.owasp_category, s.updated_by, s.updated_at
       from s where $8::integer = 1),
     old as (delete from project_scorer_versions o where :scope(o) and o.scorer_id = $2 and o.version <= (select s.version from s) - $12)
     select ${columns} from s`,
    [
      idToUuid(before.id),
      JSON.stringify(definition),
      description,
      severity,
      owasp_category,
      enabled,
      input === undefined ? 0 : 1,
      by,
      new Date(nowMs),
      before.version,
      maxScorerVersions,
    ],
    {
      action: 'project_scorer.changed',
      subject: before.id,
      detail: {
        name: before.name,
        enabled,
        ...(input === undefined ? {} : { version: before.version + 1, ...summaryOf(input) }),
      },
    },
    nowMs,
  )
  return rows.map(scorerOf)[0]
}

/** With its versions and settings. Its scores stay. */
export async function removeProjectScorer(
  database: ProjectDatabase<OneProject>,
  { id, name, ...before }: ProjectScorer,
  nowMs: number,
): Promise<boolean> {
  const rows = await database.change(
    `with s as (delete from project_scorers s where :scope(s) and s.id = $2 returning s.id),
     t as (delete from project_scorer_settings t where :scope(t) and t.scorer = $3)
     select id from s`,
    [idToUuid(id), name],
    {
      action: 'project_scorer.deleted',
      subject: id,
      detail: { name, version: before.version, ...summaryOf(before) },
    },
    nowMs,
  )
  return rows.length > 0
}

/** Newest first. */
export async function listVersions(
  database: ProjectDatabase<OneProject>,
  id: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: ProjectScorerVersion[]; total: number }> {
  const uuid = idToUuid(id)
  const [rows, count] = await Promise.all([
    database.query<Omit<ProjectScorerVersion, 'created_at'> & { created_at: Date }>(
      `select v.version, v.definition, v.description, v.severity, v.owasp_category, v.created_by, v.created_at
       from project_scorer_versions v where :scope(v) and v.scorer_id = $2 order by v.version desc limit $3 offset $4`,
      [uuid, limit, offset],
    ),
    database.query<{ total: number }>(
      'select count(*)::integer as total from project_scorer_versions v where :scope(v) and v.scorer_id = $2',
      [uuid],
    ),
  ])
  const items = rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }))
  return { items, total: count[0]?.total ?? 0 }
}

const maxAuditUnits = 2_000

/** For the audit log, which keeps entries longer than versions: long definitions are shortened. */
function summaryOf({ definition, severity, owasp_category, description }: ProjectScorerInput) {
  const json = JSON.stringify(definition)
  const shown = json.length <= maxAuditUnits ? definition : `${json.slice(0, maxAuditUnits).toWellFormed()}…`
  return { definition: shown, severity, owasp_category, description: description?.slice(0, 200) ?? null }
}

function scorerOf(row: Row): ProjectScorer {
  const id = idFromUuid('projectScorer', row.id)
  return {
    ...row,
    id,
    project_id: idFromUuid('project', row.project_id),
    scorer_version: projectScorerVersion(id, row.version),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
