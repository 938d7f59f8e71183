import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Pool } from 'pg'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { programEnvironment } from '#tests/support/program-environment.ts'
import { parseScorers } from '../scoring/custom/parse-scorers.ts'
import { answers, asks, sampleJob } from '../testing/sample-job.ts'
import { tryScorers } from './try-scorers.ts'

const key = Buffer.alloc(32, 7)
const sealer = createSealer([{ id: 'k1', key }])
const dayMs = 86_400_000
const [one, other] = [newId('project'), newId('project')]
let database: TestDatabase
let pool: Pool
let directory: string

const yaml = `
- { name: falcon, type: keyword_list, severity: high, keywords: [falcon] }
- { name: falcon here, type: keyword_list, severity: high, keywords: [falcon], projects: [${one}] }
- { name: answered, type: regex, severity: high, patterns: ['osprey'], match_on: response_body }
- { name: either, type: regex, severity: high, patterns: ['osprey|Falcon'], match_on: both }
- { name: called, type: regex, severity: high, patterns: ['^rm '], match_on: tool_arguments }
`

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'try-scorers-'))
  database = await createTestDatabase()
  pool = new Pool({ connectionString: database.url, max: 2 })
  for (let index = 0; index < 45; index++) await store(one, 0, asks('nothing'), answers('nothing'))
  await store(one, 0, asks('about Falcon'), answers('an osprey'))
  await store(one, 0, { type: 'mcp_tool_call', tool_name: 'sh', arguments: { command: 'rm -r x' } }, {})
  await store(other, 1, asks('about FALCON'), answers('nothing'))
  await store(other, 3, asks('old falcon'), answers('nothing'))
  await store(one, 0, undefined, undefined)
  await store(one, 0, asks('falcon of another key'), undefined, createSealer([{ id: 'k9', key }]))
})

afterAll(async () => {
  await pool.end()
  await database.drop()
  await rm(directory, { recursive: true })
})

async function store(
  projectId: string,
  daysAgo: number,
  request: unknown,
  response: unknown,
  sealedBy = sealer,
): Promise<void> {
  const createdAtMs = Date.now() - daysAgo * dayMs - 1_000
  const id = newId('request', createdAtMs)
  const job = sampleJob(sealedBy, { request, response }, { project_id: projectId, request_id: id })
  const at = [idToUuid(projectId), idToUuid(id), new Date(createdAtMs)]
  await pool.query('select ensure_day_partitions($1::date)', [
    new Date(createdAtMs).toISOString().slice(0, 10),
  ])
  await pool.query(
    `insert into llm_requests (project_id, id, created_at, source, model, zero_content_retention, received_at)
     values ($1, $2, $3, 'gateway', 'm', false, $3)`,
    at,
  )
  const { request_body: asked, response_body: answered } = job
  if (asked === null) return
  await pool.query(`insert into llm_request_bodies values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, [
    ...at,
    ...[asked.codec, asked.key_id, asked.data],
    ...[answered?.codec ?? null, answered?.key_id ?? null, answered?.data ?? null],
  ])
}

async function tryDays(days: number, projectId: string | null = null) {
  const parsed = parseScorers(yaml)
  if (!parsed.ok) throw new Error('refused')
  const to = new Date()
  const report = await tryScorers({
    pool,
    sealer,
    scorers: parsed.scorers,
    from: new Date(to.getTime() - days * dayMs),
    to,
    projectId,
  })
  const hits = Object.fromEntries(
    report.trials.map(({ name, looked, hits: count }) => [name, [count, looked]]),
  )
  return { ...report, hits }
}

test('says what entries would hit in a time: by what they match on and for the projects that they name', async () => {
  const report = await tryDays(2)
  expect(report.hits).toEqual({
    falcon: [2, 48],
    'falcon here': [1, 47],
    answered: [1, 48],
    either: [1, 48],
    called: [1, 48],
  })
  expect(report).toMatchObject({ calls: 50, withoutBodies: 1, unreadable: 1 })
  expect(report.trials[0]).toMatchObject({
    projects: 2,
    examples: [
      { projectId: one, matched: 'keyword 1' },
      { projectId: other, matched: 'keyword 1' },
    ],
  })
  expect((await tryDays(4)).hits['falcon']).toEqual([3, 49])
  expect((await tryDays(4, other)).hits['falcon']).toEqual([2, 2])
})

test('scripts/scorers prints it, and says what is wrong with a file', async () => {
  const good = join(directory, 'good.yaml')
  const bad = join(directory, 'bad.yaml')
  await writeFile(good, yaml)
  await writeFile(bad, '- name: x\n  type: magic\n')
  expect(await runScript(['try', good, '--days', '2'])).toMatchObject({
    code: 0,
    output: expect.stringContaining('falcon: hits 2 of 48 (4.17%), in 2 projects') as unknown,
  })
  expect(await runScript(['try', bad])).toMatchObject({
    code: 2,
    output: expect.stringContaining(`${bad}:2: type`) as unknown,
  })
  expect(await runScript(['try'])).toMatchObject({
    code: 2,
    output: expect.stringContaining('expected "try FILE"') as unknown,
  })
})

async function runScript(given: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['scripts/scorers.ts', ...given], {
    env: {
      ...programEnvironment(),
      DATABASE_URL: database.url,
      BODY_ENCRYPTION_KEYS: `k1:${key.toString('base64')}`,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}
