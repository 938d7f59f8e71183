import { join } from 'node:path'
import { mkdir } from 'node:fs/promises'
import pg from 'pg'
import type { EmbeddedPart } from '#infra/embedded/embedded-part.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { startPostgres } from '#infra/embedded/start-postgres.ts'
import { migrate } from '#infra/migrate.ts'
import { idFromUuid, idToUuid, newId } from '#schemas/ids.ts'
import { fillCalls, filledDays, type FilledCalls } from './fill-calls.ts'
import { fillLogs } from './fill-logs.ts'
import { fillRollups } from './fill-rollups.ts'

const dayMs = 86_400_000

export interface FilledDatabase extends FilledCalls {
  url: string
}

/** The benchmark's own Postgres, whose data stays in `directory` for the next run. */
export async function startKeptPostgres(directory: string): Promise<EmbeddedPart> {
  await mkdir(directory, { recursive: true })
  const [port] = (await freePorts(1)) as [number]
  return startPostgres({
    directory: join(directory, 'postgres'),
    logFile: join(directory, 'postgres.log'),
    port,
    durable: false,
  })
}

/** The database with this many calls, migrated and filled as far as necessary. */
export async function filledDatabase(
  postgres: EmbeddedPart,
  rows: number,
  say: (line: string) => void,
): Promise<FilledDatabase> {
  const name = `calls_${rows}`
  await createDatabase(postgres.address, name)
  const url = new URL(postgres.address)
  url.pathname = `/${name}`
  await migrate(url.href)
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    const filled = await findOrPlan(client, rows)
    await fillCalls(client, filled, say)
    await fillRollups(client, filled, say)
    await fillLogs(client, filled, say)
    return { ...filled, url: url.href }
  } finally {
    await client.end()
  }
}

async function createDatabase(address: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
  if (rowCount === 0) await client.query(`create database ${name}`)
  await client.end()
}

/** The plan of an earlier run, or a new project and range of days. */
async function findOrPlan(client: pg.Client, rows: number): Promise<FilledCalls> {
  await client.query('create table if not exists bench_filled (project uuid, start_ms bigint, end_ms bigint)')
  const { rows: found } = await client.query<{ project: string; start_ms: string; end_ms: string }>(
    'select * from bench_filled',
  )
  const [kept] = found
  if (kept !== undefined) {
    return {
      rows,
      projectId: idFromUuid('project', kept.project),
      startMs: Number(kept.start_ms),
      endMs: Number(kept.end_ms),
    }
  }
  const endMs = Math.floor(Date.now() / dayMs) * dayMs
  const startMs = endMs - filledDays * dayMs
  const projectId = newId('project', startMs)
  await client.query(
    `insert into projects (id, name, created_at, metadata_keys) values ($1, 'bench', now(), $2)`,
    [idToUuid(projectId), JSON.stringify([{ name: 'team', counted_from: new Date(startMs).toISOString() }])],
  )
  await client.query(
    `insert into subscriptions (project_id, tier, period_start, period_reset_at, period_anchor)
     values ($1, 'enterprise', now(), now() + interval '1 month', now())`,
    [idToUuid(projectId)],
  )
  await client.query('insert into bench_filled values ($1, $2, $3)', [idToUuid(projectId), startMs, endMs])
  return { rows, projectId, startMs, endMs }
}
