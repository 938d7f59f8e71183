import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { signalGroup } from '#infra/embedded/guarded-process.ts'
import { idFromUuid, idToUuid, liveRunId, newId } from '#schemas/ids.ts'
import { startMockJudge, type MockJudge } from '../support/mock-judge.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { realPrompts } from '../support/real-prompts.ts'
import { startStack, type Stack } from '../support/start-stack.ts'
import { until } from '../support/until.ts'

/** Number of calls to score again, in pages of 500. REPLAY_CALLS=10000 takes some minutes. */
const callCount = Number(process.env['REPLAY_CALLS'] ?? 700)
/** Fewer than a run's calls, so that feeding waits for the scorer. */
const maxWaitingJobs = 300
/** Only ends a test that hangs: ten thousand calls with all scorers and a judge take minutes on two cores. */
const timeoutMs = 120_000 + callCount * 60
jest.setTimeout(3 * timeoutMs)
const repository = join(import.meta.dirname, '..', '..')
const scorers = ['content_safety', 'pii_detection']

let judge: MockJudge
let stack: Stack
let rubrics: string
let database: pg.Pool
let runId: string

beforeAll(async () => {
  rubrics = await mkdtemp(join(tmpdir(), 'sluice-rubrics-'))
  await cp(join(repository, 'evals', 'rubrics'), rubrics, { recursive: true })
  judge = await startMockJudge()
  stack = await startStack({
    upstreamUrl: judge.url,
    insecureWebhookHosts: '',
    environment: {
      OPENAI_BASE_URL: judge.url,
      OPENAI_API_KEY: 'k',
      RUBRICS_DIR: rubrics,
      JUDGE_CONCURRENCY: '32',
      REPLAY_MAX_WAITING_JOBS: String(maxWaitingJobs),
    },
  })
  database = new pg.Pool({ connectionString: stack.databaseUrl, max: 2 })
})
afterAll(async () => {
  await database.end()
  await stack.stop()
  await judge.stop()
  await rm(rubrics, { recursive: true })
})

test('a replay with a new rubric, killed halfway: the new run is complete, old scores and events are unchanged', async () => {
  const ids = await logCalls()
  const scoresOf = (run: string) => readScores(run)
  await until(
    async () => (await countScores(liveRun())) === callCount * 10 && (await unpublished()) === 0,
    timeoutMs,
  )
  const before = await scoresOf(liveRun())
  const events = await count('select count(*) from event_outbox')

  await changeRubric()
  await stack.processes.scorer.killAndRestart()
  const dry = await replay('--dry-run')
  expect(dry).toContain(`${callCount} calls, 0 of them without bodies`)
  runId = await startReplayAndKillEverything()
  await promisify(execFile)(process.execPath, [join(repository, 'scripts/replay.ts'), 'watch', runId], {
    env: environment(),
  })

  const again = await scoresOf(runId)
  expect(again.map(({ key }) => key)).toEqual(
    ids.flatMap((id) => scorers.map((scorer) => `${id}/${scorer}`)).sort(),
  )
  expect(
    again
      .filter(({ key }) => key.endsWith('content_safety'))
      .every(({ version }) => version.startsWith('judge-99-')),
  ).toBe(true)
  expect(await scoresOf(liveRun())).toEqual(before)
  expect(await count('select count(*) from event_outbox')).toBe(events)
  expect(await api('GET', `/api/score-runs/${runId}`)).toMatchObject({
    status: 'done',
    calls_total: callCount,
    calls_scored: callCount,
    problem: null,
  })
})

test('shows the differences; promotion swaps scores, verdicts and roll-ups', async () => {
  const diff = (await api('GET', `/api/score-runs/${runId}/diff`)) as {
    scorers: { scorer_name: string; compared: number }[]
  }
  expect(diff.scorers.map(({ scorer_name, compared }) => [scorer_name, compared])).toEqual(
    scorers.map((name) => [name, callCount]),
  )
  const live = await readScores(liveRun())
  const replayed = await readScores(runId)
  const verdicts = () =>
    rows(
      // Without the count of changes, which only grows.
      `select encode(sha256(string_agg((to_jsonb(v) - 'reading_revision')::text, ',' order by request_id)::bytea), 'hex')
       from request_verdicts v`,
    )
  const verdictsBefore = await verdicts()
  await replay('promote', runId)
  const promoted = await readScores(liveRun())
  expect(promoted.filter(({ key }) => key.endsWith('content_safety'))).toEqual(
    replayed.filter(({ key }) => key.endsWith('content_safety')),
  )
  expect(promoted).toHaveLength(live.length)
  await expectRollupsToBeTheRecount()
  await replay('promote', runId)
  expect(await readScores(liveRun())).toEqual(live)
  expect(await readScores(runId)).toEqual(replayed)
  expect(await verdicts()).toEqual(verdictsBefore)
  await expectRollupsToBeTheRecount()
})

test('the topic gives the same as the tables; a run can be cancelled and refused', async () => {
  const { run } = (await api('POST', '/api/score-runs', {
    ...range(),
    scorers: ['pii_detection'],
    source: 'kafka',
  })) as { run: { id: string } }
  await until(
    async () => ((await api('GET', `/api/score-runs/${run.id}`)) as { status: string }).status === 'done',
    timeoutMs,
  )
  expect(await countScores(run.id)).toBe(callCount)
  expect(await api('GET', `/api/score-runs/${run.id}`)).toMatchObject({ calls_fed: callCount, problem: null })
  expect(await api('POST', `/api/score-runs/${run.id}/cancel`)).toMatchObject({ code: 'RUN_STATUS' })
  expect(await api('POST', '/api/score-runs', { start: '2026-02-01', end: '2026-01-01' })).toMatchObject({
    code: 'INVALID_INPUT',
    errors: [{ path: 'end' }],
  })
})

const liveRun = () => liveRunId(stack.projectId)
const range = () => ({
  start: new Date(Date.now() - 3_600_000).toISOString(),
  end: new Date(Date.now() + 60_000).toISOString(),
  project_id: stack.projectId,
})

async function logCalls(): Promise<string[]> {
  const prompts = realPrompts(300)
  const records = Array.from({ length: callCount }, (_, index) => ({
    id: newId('request'),
    request_body: { model: 'm', messages: [{ role: 'user', content: prompts[index % prompts.length] }] },
    response_body: {
      choices: [{ message: { role: 'assistant', content: index % 7 === 0 ? 'build a bomb' : 'No.' } }],
    },
  }))
  // A client whose answer was lost sends again: these are on the topic twice.
  const sent = [...records, ...records.slice(-20)]
  for (let from = 0; from < sent.length; from += 300) {
    const response = await fetch(`${stack.apiUrl}/internal/log/batch`, {
      method: 'POST',
      headers: { 'x-service-key': stack.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ records: sent.slice(from, from + 300) }),
    })
    expect(response.status).toBe(200)
  }
  return records.map(({ id }) => id)
}

async function changeRubric(): Promise<void> {
  const file = join(rubrics, 'content_safety.md')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace(/^version: \d+$/m, 'version: 99'))
  await appendFile(file, '\nA changed rubric.\n')
}

function environment(): Record<string, string | undefined> {
  return {
    ...programEnvironment(),
    PUBLIC_BASE_URL: stack.apiUrl,
    INTERNAL_API_SECRET: stack.operatorSecret,
  }
}

const options = () => [
  '--from',
  range().start,
  '--to',
  range().end,
  '--project',
  stack.projectId,
  '--scorers',
  scorers.join(','),
]

async function replay(...given: string[]): Promise<string> {
  const all = given[0]?.startsWith('--') === true ? [...options(), ...given] : given
  const script = join(repository, 'scripts/replay.ts')
  return (await promisify(execFile)(process.execPath, [script, ...all], { env: environment() })).stdout
}

/**
 * Starts a run with the script; kills the script, the sink that feeds it and the scorer while part of its
 * calls is queued.
 */
async function startReplayAndKillEverything(): Promise<string> {
  const { scorer, sink } = stack.processes
  signalGroup(scorer.pid(), 'SIGSTOP')
  const script = spawn(process.execPath, [join(repository, 'scripts/replay.ts'), ...options()], {
    env: environment(),
  })
  const [line] = (await once(script.stdout, 'data')) as [Buffer]
  const id = String(line).split('\n')[0] ?? ''
  await until(
    async () =>
      ((await api('GET', `/api/score-runs/${id}`)) as { calls_fed: number }).calls_fed >= maxWaitingJobs,
  )
  expect(await api('GET', `/api/score-runs/${id}`)).toMatchObject({ status: 'feeding' })
  script.kill('SIGKILL')
  await Promise.all([sink.killAndRestart(), scorer.killAndRestart()])
  return id
}

async function readScores(run: string): Promise<{ key: string; version: string; value: number | null }[]> {
  const found = await rows<{
    request_id: string
    scorer_name: string
    scorer_version: string
    score_value: number | null
  }>('select request_id, scorer_name, scorer_version, score_value from safety_scores where run_id = $1', [
    idToUuid(run),
  ])
  return found
    .map(({ request_id, scorer_name, scorer_version, score_value }) => ({
      key: `${idFromUuid('request', request_id)}/${scorer_name}`,
      version: scorer_version,
      value: score_value,
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}

async function expectRollupsToBeTheRecount(): Promise<void> {
  const counted = `select run_id, scorer_name, score_label, severity, sum(scores)::int as scores, sum(value_micros)::int8 as value
    from score_rollups group by 1, 2, 3, 4 having sum(scores) <> 0 order by 1, 2, 3, 4`
  const recounted = `select run_id, scorer_name, score_label, severity, count(*)::int as scores, coalesce(sum(floor(score_value * 1e6 + 0.5)), 0)::int8 as value
    from safety_scores group by 1, 2, 3, 4 order by 1, 2, 3, 4`
  expect(await rows(counted)).toEqual(await rows(recounted))
  const verdicts = `select sum(verdict_safe)::int as safe, sum(verdict_unscored)::int as unscored, sum(verdict_unsafe)::int as unsafe from call_rollups`
  const recount = `select count(*) filter (where worst_label = 'safe')::int as safe, count(*) filter (where worst_label = 'unscored')::int as unscored,
    count(*) filter (where worst_label = 'unsafe')::int as unsafe from request_verdicts`
  expect(await rows(verdicts)).toEqual(await rows(recount))
}

async function api(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(stack.apiUrl + path, {
    method,
    headers: { authorization: `Bearer ${stack.operatorSecret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return response.json()
}

async function rows<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> {
  return (await database.query<R>(text, values)).rows
}
const count = async (text: string, values: unknown[] = []) =>
  Number((await rows<{ count: string }>(text, values))[0]?.count)
const countScores = (run: string) =>
  count('select count(*) from safety_scores where run_id = $1', [idToUuid(run)])
const unpublished = () => count('select count(*) from event_outbox where published_at is null')
