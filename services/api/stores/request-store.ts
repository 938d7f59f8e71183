import { idFromUuid, idTimeMs, idToUuid, liveRunId } from '#schemas/ids.ts'
import type { SealedBytes } from '#schemas/sealed-bytes.ts'
import type { ScoreLabel, Severity } from '#schemas/verdicts.ts'
import type { Counted, Paging } from '../http/paging.ts'
import { Conditions } from './conditions.ts'
import { listRows } from './list-rows.ts'
import type { ProjectDatabase } from './project-database.ts'

export interface RequestFilters {
  model?: string | undefined
  provider?: string | undefined
  agent_name?: string | undefined
  session_id?: string | undefined
  user_id?: string | undefined
  type?: string | undefined
  tool_name?: string | undefined
  label?: ScoreLabel | undefined
  severity?: Severity | undefined
  scorer_name?: string | undefined
  /** Unix milliseconds. */
  start?: number | undefined
  end?: number | undefined
  /** Key of the metadata → its value as text. */
  metadata: Readonly<Record<string, string>>
}

/** A request as lists show it: everything but the bodies. */
export type RequestItem = Record<(typeof plainColumns)[number], unknown> & {
  id: string
  project_id: string
  created_at: string
  worst_label: ScoreLabel | null
  worst_severity: Severity | null
  score_count: number
}

export interface StoredBodies {
  request: SealedBytes | null
  response: SealedBytes | null
}

const plainColumns = [
  'source',
  'model',
  'provider',
  'agent_name',
  'agent_tag',
  'session_id',
  'user_id',
  'type',
  'tool_name',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'cost_usd',
  'latency_ms',
  'time_to_first_token_ms',
  'status_code',
  'error',
  'aborted_by',
  'metadata',
  'zero_content_retention',
] as const
const countColumns = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'] as const

const columns = `r.id, r.project_id, r.created_at, ${plainColumns.map((name) => `r.${name}`).join(', ')},
  v.worst_label, v.worst_severity, coalesce(v.score_count, 0) as score_count`
const from = `llm_requests r left join request_verdicts v
  on v.project_id = r.project_id and v.request_id = r.id and v.request_created_at = r.created_at`

type RequestRow = Omit<RequestItem, 'created_at'> & { created_at: Date }

interface BodyRow {
  request_codec: string | null
  request_key_id: string | null
  request_data: Buffer | null
  response_codec: string | null
  response_key_id: string | null
  response_data: Buffer | null
}

/** Requests of the projects that `database` is scoped to. */
export function createRequestStore(database: ProjectDatabase) {
  return {
    /** Newest first, without bodies. */
    async list(filters: RequestFilters, paging: Paging): Promise<{ items: RequestItem[]; counted: Counted }> {
      const conditions = conditionsOf(filters, database.scope.projectId)
      const { rows, counted } = await listRows<RequestRow>(database, paging, {
        columns,
        from,
        alias: 'r',
        timeColumn: 'r.created_at',
        idColumn: 'r.id',
        conditions,
      })
      return { items: rows.map(itemOf), counted }
    },

    async find(requestId: string): Promise<RequestItem | undefined> {
      // The time in the identifier leads to the one partition that can have it.
      const rows = await database.query<RequestRow>(
        `select ${columns} from ${from} where :scope(r) and r.id = $2 and r.created_at = $3`,
        [idToUuid(requestId), new Date(idTimeMs(requestId))],
      )
      return rows[0] === undefined ? undefined : itemOf(rows[0])
    },

    /** Undefined once they are erased, and where they were never kept. */
    async findBodies(requestId: string): Promise<StoredBodies | undefined> {
      const [row] = await database.query<BodyRow>(
        `select request_codec, request_key_id, request_data, response_codec, response_key_id, response_data
         from llm_request_bodies b where :scope(b) and b.request_id = $2 and b.created_at = $3`,
        [idToUuid(requestId), new Date(idTimeMs(requestId))],
      )
      if (row === undefined) return undefined
      return {
        request: sealedOf(row.request_codec, row.request_key_id, row.request_data),
        response: sealedOf(row.response_codec, row.response_key_id, row.response_data),
      }
    },
  }
}

function conditionsOf(filters: RequestFilters, projectId: string | null): Conditions {
  const conditions = new Conditions()
  for (const name of [
    'model',
    'provider',
    'agent_name',
    'session_id',
    'user_id',
    'type',
    'tool_name',
  ] as const) {
    conditions.equal(`r.${name}`, filters[name])
  }
  conditions.within('r.created_at', filters.start, filters.end)
  for (const [key, value] of Object.entries(filters.metadata)) {
    conditions.add(`r.metadata ->> ${conditions.bind(key)} = ${conditions.bind(value)}`)
  }
  if (filters.scorer_name === undefined) {
    conditions.equal('v.worst_label', filters.label)
    conditions.equal('v.worst_severity', filters.severity)
  } else {
    conditions.add(scoredBy(filters, filters.scorer_name, projectId, conditions))
  }
  return conditions
}

/** Label and severity are then those of this scorer's own score. */
function scoredBy(
  filters: RequestFilters,
  scorer: string,
  projectId: string | null,
  outer: Conditions,
): string {
  const parts = [`s.scorer_name = ${outer.bind(scorer)}`]
  if (projectId !== null) parts.push(`s.run_id = ${outer.bind(idToUuid(liveRunId(projectId)))}`)
  if (filters.label !== undefined) parts.push(`s.score_label = ${outer.bind(filters.label)}`)
  if (filters.severity !== undefined) parts.push(`s.severity = ${outer.bind(filters.severity)}`)
  return `exists (select from safety_scores s where s.project_id = r.project_id and s.request_id = r.id
    and s.request_created_at = r.created_at and ${parts.join(' and ')})`
}

function itemOf(row: RequestRow): RequestItem {
  const item = {
    ...row,
    id: idFromUuid('request', row.id),
    project_id: idFromUuid('project', row.project_id),
    created_at: row.created_at.toISOString(),
  }
  // Postgres hands bigint over as text, because not all of them fit a number; ingest takes only those that do.
  for (const name of countColumns) item[name] = row[name] === null ? null : Number(row[name])
  return item
}

function sealedOf(codec: string | null, keyId: string | null, data: Buffer | null): SealedBytes | null {
  return codec === null || data === null ? null : { codec, key_id: keyId, data }
}
