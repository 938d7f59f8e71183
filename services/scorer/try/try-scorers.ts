import type { Pool } from 'pg'
import { PermanentError } from '#runtime/errors.ts'
import { query } from '#runtime/postgres.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import {
  sealedBodiesOf,
  sealedIdentity,
  type SealedBodyColumns,
  type SealedPart,
} from '#schemas/sealed-bytes.ts'
import { parseBody, readCall, type Body, type Call } from '#detectors/call-text.ts'
import type { CustomScorer } from '../scoring/custom/custom-scorer.ts'
import { startCustomRun } from '../scoring/custom/run-custom-scorer.ts'
import { searchablesOf } from '../scoring/custom/searchable.ts'

/** What one entry would have matched. */
export interface Trial {
  name: string
  /** Calls of its projects. */
  looked: number
  hits: number
  projects: number
  /** The newest matching calls. */
  examples: { requestId: string; projectId: string; matched: string }[]
}

export interface TrialReport {
  trials: Trial[]
  calls: number
  /** Bodies expired, never kept, or sealed with unknown keys. */
  withoutBodies: number
  unreadable: number
}

interface TrialOptions {
  pool: Pool
  sealer: Sealer
  scorers: readonly CustomScorer[]
  from: Date
  to: Date
  /** Null: every project. */
  projectId: string | null
  onProgress?: (calls: number) => void
}

/** Held at once; bodies are at most 10 MiB each before compression. */
const pageRows = 20
const maxExamples = 5

/** Runs custom scorers over the calls of a time range, newest first, and reports matches. Writes nothing. */
export async function tryScorers(options: TrialOptions): Promise<TrialReport> {
  const { scorers, sealer, onProgress } = options
  const counts = scorers.map(startCount)
  const report = { calls: 0, withoutBodies: 0, unreadable: 0 }
  for await (const row of callsOf(options)) {
    report.calls += 1
    const call = openStoredCall(row, sealer)
    if (call === 'without bodies') report.withoutBodies += 1
    else if (call === 'unreadable') report.unreadable += 1
    else for (const count of counts) count.look(row, call)
    onProgress?.(report.calls)
  }
  return { ...report, trials: counts.map((count) => count.trial()) }
}

interface StoredCall extends SealedBodyColumns {
  project_id: string
  id: string
  created_at: Date
}

const pageSql = `
  select r.project_id, r.id, r.created_at,
    b.request_codec, b.request_key_id, b.request_data, b.response_codec, b.response_key_id, b.response_data
  from llm_requests r
  left join llm_request_bodies b on b.project_id = r.project_id and b.request_id = r.id and b.created_at = r.created_at
  where r.created_at >= $1 and r.created_at < $2 and ($3::uuid is null or r.project_id = $3)
    and ($4::timestamptz is null or (r.created_at, r.id) < ($4, $5::uuid))
  order by r.created_at desc, r.id desc limit $6`

/** Page by page: no transaction stays open, and calls that arrive meanwhile are newer. */
async function* callsOf({ pool, from, to, projectId }: TrialOptions): AsyncGenerator<StoredCall> {
  const project = projectId === null ? null : idToUuid(projectId)
  let last: StoredCall | undefined
  for (;;) {
    const { rows } = await query<StoredCall>(pool, pageSql, [
      from,
      to,
      project,
      last?.created_at ?? null,
      last?.id ?? null,
      pageRows,
    ])
    yield* rows
    last = rows.at(-1)
    if (rows.length < pageRows) return
  }
}

function openStoredCall(row: StoredCall, sealer: Sealer): Call | 'without bodies' | 'unreadable' {
  if (row.request_data === null) return 'without bodies'
  try {
    const request = openBody(row, 'request', sealer)
    return request === null ? 'without bodies' : readCall(request, openBody(row, 'response', sealer))
  } catch (error) {
    if (error instanceof PermanentError || error instanceof SyntaxError) return 'unreadable'
    throw error
  }
}

function openBody(row: StoredCall, side: 'request' | 'response', sealer: Sealer): Body | null {
  const sealed = sealedBodiesOf(row)[side]
  if (sealed === null) return null
  const part: SealedPart = `${side}_body`
  const identity = sealedIdentity(idFromUuid('project', row.project_id), idFromUuid('request', row.id), part)
  return parseBody(sealer.open(sealed, identity).toString('utf8'))
}

function startCount(scorer: CustomScorer) {
  const trial = { name: scorer.name, looked: 0, hits: 0, examples: [] as Trial['examples'] }
  const projects = new Set<string>()
  return {
    look(row: StoredCall, call: Call) {
      const projectId = idFromUuid('project', row.project_id)
      if (scorer.projects !== null && !scorer.projects.has(projectId)) return
      trial.looked += 1
      const run = startCustomRun(scorer)
      for (const text of searchablesOf(call)(scorer.matchOn)) run.read(text)
      const { label, evidence } = run.verdict()
      if (label !== 'unsafe') return
      trial.hits += 1
      projects.add(projectId)
      if (trial.examples.length >= maxExamples) return
      const matched = [...new Set(evidence.map(({ kind }) => kind))].join(', ')
      trial.examples.push({ requestId: idFromUuid('request', row.id), projectId, matched })
    },
    trial: (): Trial => ({ ...trial, projects: projects.size }),
  }
}
