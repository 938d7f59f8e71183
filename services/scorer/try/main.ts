import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { z } from 'zod'
import { parseConfig, postgresFields, sealingFields } from '#runtime/config.ts'
import { requireOwnSessions } from '#runtime/own-sessions.ts'
import { connectionOf } from '#runtime/postgres-address.ts'
import { createSealer } from '#runtime/sealing.ts'
import { isId } from '#schemas/ids.ts'
import { parseScorers } from '../scoring/custom/parse-scorers.ts'
import { tryScorers, type TrialReport } from './try-scorers.ts'

const dayMs = 86_400_000
const configSchema = z.object({ ...postgresFields, ...sealingFields })

/** What a file of custom scorers would hit: started by scripts/scorers, which says where Postgres is. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { days: { type: 'string', default: '7' }, project: { type: 'string' } },
  })
  const [file = 'evals/scorers.yaml'] = positionals
  const days = Number(values.days)
  if (!(days > 0 && days <= 90)) throw new Error('--days: expected a number above 0, at most 90')
  const { project } = values
  if (project !== undefined && !isId('project', project)) throw new Error('--project: expected prj_…')
  const parsed = parseScorers(readFileSync(file, 'utf8'))
  if (!parsed.ok)
    throw new Error(parsed.problems.map(({ line, reason }) => `${file}:${line}: ${reason}`).join('\n'))
  const config = parseConfig(configSchema, process.env)
  if (!config.ok) throw new Error(config.problems.join('\n'))
  await requireOwnSessions(config.value)
  const pool = new pg.Pool({ ...connectionOf(config.value), max: 1 })
  const to = new Date()
  try {
    const report = await tryScorers({
      pool,
      sealer: createSealer(config.value.BODY_ENCRYPTION_KEYS),
      scorers: parsed.scorers,
      from: new Date(to.getTime() - days * dayMs),
      to,
      projectId: project ?? null,
      onProgress: (calls) => {
        if (process.stderr.isTTY && calls % 1_000 === 0) process.stderr.write(`\r${calls} calls`)
      },
    })
    print(report, days)
  } finally {
    await pool.end()
  }
}

function print({ trials, calls, withoutBodies, unreadable }: TrialReport, days: number): void {
  console.log(
    `${calls} calls of the last ${days} days; ${withoutBodies} without bodies, ${unreadable} unreadable`,
  )
  for (const { name, looked, hits, projects, examples } of trials) {
    const share = looked === 0 ? '–' : `${((100 * hits) / looked).toFixed(2)}%`
    console.log(`\n${name}: hits ${hits} of ${looked} (${share}), in ${projects} projects`)
    for (const { requestId, projectId, matched } of examples)
      console.log(`  ${requestId}  ${projectId}  ${matched}`)
  }
}

try {
  await main()
} catch (error) {
  console.error(`sluice: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 2
}
