import { z } from 'zod'
import type { Sealer } from '#runtime/sealing.ts'
import { idField } from '#http/fields.ts'
import { route, type Reply, type Route } from '#http/route.ts'
import { found } from '#http/problem.ts'
import { buildReport, compareReports, type RedteamReport } from '../redteam/build-report.ts'
import { garakAttempt, garakHead, garakTail } from '../redteam/garak-lines.ts'
import { readSaid } from '../redteam/read-said.ts'
import { redteamDiffSchema, reportSchema } from '../redteam/redteam-schemas.ts'
import { renderHtml, type Finding } from '../redteam/render-html.ts'
import { renderJunit } from '../redteam/render-junit.ts'
import {
  attemptsWithBodies,
  groupAttempts,
  listAttempts,
  type RedteamAttempt,
} from '../stores/redteam-attempts.ts'
import { findRun, findRedteamRun, findRunBefore, type RedteamRun } from '../stores/redteam-store.ts'
import type { OneProject, ProjectDatabase, ProjectDatabases } from '../stores/project-database.ts'

const reading = { access: 'read', tag: 'Red team' } as const
const runParams = z.object({ id: idField('run') })
const whose = { project_id: idField('project').optional() }
const missing = { 404: 'There is no such run.' } as const

/** Findings in an HTML report, and characters per text; the API has the rest. */
const [maxFindings, maxSaidUnits] = [200, 4_000]
const [pageRows, pageRowsWithBodies] = [500, 50]

export interface RedteamReportOptions {
  databases: ProjectDatabases
  sealer: Sealer
  dashboardUrl: string
}

/** Reports of runs, which may be in progress, and comparisons. */
export function redteamReportRoutes(options: RedteamReportOptions): Route[] {
  return [reportRoute(options), diffRoute(options)]
}

function reportRoute({ databases, sealer, dashboardUrl }: RedteamReportOptions): Route {
  return route({
    ...reading,
    method: 'get',
    path: '/api/redteam-runs/{id}/report',
    summary: 'The results of a run by category, transformation and probe, with 95 % intervals.',
    params: runParams,
    query: z.strictObject({
      ...whose,
      format: z
        .enum(['json', 'html', 'junit', 'garak'])
        .default('json')
        .describe(
          '`html`: one file that works offline. `garak`: JSON lines in the form of its report.jsonl.',
        ),
    }),
    reply: { status: 200, description: 'The report.', schema: reportSchema },
    problems: missing,
    async handle({ principal, params, query }) {
      const run = await findRun(databases, principal, query.project_id, params.id)
      const database = databases.ofOne(principal, run.project_id)
      const report = await readReport(database, run, dashboardUrl)
      if (query.format === 'json') return { json: report }
      if (query.format === 'junit')
        return fileOf(report, 'xml', 'application/xml', writeJunit(database, report))
      if (query.format === 'garak')
        return fileOf(report, 'report.jsonl', 'application/x-ndjson', writeGarak(database, report, sealer))
      const html = renderHtml(report, await readFindings(database, report, sealer))
      return fileOf(report, 'html', 'text/html; charset=utf-8', [html])
    },
  })
}

function diffRoute({ databases, dashboardUrl }: RedteamReportOptions): Route {
  return route({
    ...reading,
    method: 'get',
    path: '/api/redteam-runs/{id}/diff',
    summary: 'The changes since another run: failure rates by category, and probes whose rate changed.',
    params: runParams,
    query: z.strictObject({
      ...whose,
      against: idField('run')
        .optional()
        .describe('A run of the same project to compare with. Absent: the previous one of the same agent.'),
    }),
    reply: { status: 200, description: 'The differences.', schema: redteamDiffSchema },
    problems: missing,
    async handle({ principal, params, query }) {
      const run = await findRun(databases, principal, query.project_id, params.id)
      const database = databases.ofOne(principal, run.project_id)
      const after = await readReport(database, run, dashboardUrl)
      const against = query.against ?? (await findRunBefore(database, run))
      if (against === undefined) return { json: compareReports(undefined, after) }
      const other = found(await findRedteamRun(database, against), 'run', against)
      return { json: compareReports(await readReport(database, other, dashboardUrl), after) }
    },
  })
}

async function readReport(database: Database, run: RedteamRun, dashboardUrl: string): Promise<RedteamReport> {
  return buildReport(run, await groupAttempts(database, run.id), `${dashboardUrl}/runs/${run.id}`)
}

/** As a download: a browser must not render it under the API's origin. */
function fileOf(
  { run }: RedteamReport,
  ending: string,
  contentType: string,
  chunks: AsyncIterable<string> | Iterable<string>,
): Reply {
  return {
    headers: {
      'content-disposition': `attachment; filename="${run.id}.${ending}"`,
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
    },
    stream: { contentType, chunks: asyncOf(chunks) },
  }
}

async function* asyncOf(chunks: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  yield* chunks
}

type Database = ProjectDatabase<OneProject>

async function* pagesOf(
  database: Database,
  runId: string,
  category: string,
): AsyncGenerator<RedteamAttempt[]> {
  for (let after = -1; ;) {
    const page = await listAttempts(database, runId, { category }, { after, limit: pageRows })
    yield page.filter(({ state }) => state === 'judged')
    if (page.length < pageRows) return
    after = page.at(-1)?.number ?? after
  }
}

function writeJunit(database: Database, report: RedteamReport): AsyncGenerator<string> {
  return renderJunit(report, (category) => pagesOf(database, report.run.id, category))
}

async function* writeGarak(
  database: Database,
  report: RedteamReport,
  sealer: Sealer,
): AsyncGenerator<string> {
  const lines = (entries: readonly object[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
  const { id, project_id } = report.run
  yield lines(garakHead(report))
  for (let after = -1; ;) {
    const page = await attemptsWithBodies(database, id, { after, limit: pageRowsWithBodies })
    yield lines(
      page.map((row) => garakAttempt(row.attempt, row.origin, readSaid(row, project_id, sealer), id)),
    )
    if (page.length < pageRowsWithBodies) break
    after = page.at(-1)?.attempt.number ?? after
  }
  yield lines(garakTail(report))
}

async function readFindings(database: Database, { run }: RedteamReport, sealer: Sealer): Promise<Finding[]> {
  const findings: Finding[] = []
  for (let after = -1; findings.length < maxFindings;) {
    const page = await attemptsWithBodies(database, run.id, {
      after,
      limit: pageRowsWithBodies,
      verdict: 'fail',
    })
    for (const row of page) {
      const { number, probe_id, category, transformation, severity, failed_by } = row.attempt
      const said = readSaid(row, run.project_id, sealer)
      const asked = said?.turns.findLast(({ role }) => role === 'user')?.text ?? null
      findings.push({
        ...{ number, probe_id, category, transformation, severity },
        request_id: row.attempt.found_in ?? row.attempt.request_id,
        failed_by: failed_by ?? [],
        asked: shortened(asked),
        answered: shortened(said?.output ?? null),
      })
    }
    if (page.length < pageRowsWithBodies) break
    after = page.at(-1)?.attempt.number ?? after
  }
  return findings.slice(0, maxFindings)
}

function shortened(text: string | null): string | null {
  return text === null || text.length <= maxSaidUnits ? text : `${text.slice(0, maxSaidUnits)} …`
}
