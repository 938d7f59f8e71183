import { describe, expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import { topics } from '#schemas/topics.ts'
import { openLine } from '#tests/support/cuttable-line.ts'
import { until } from '#tests/support/until.ts'
import { scoreBy, scoresOf } from './testing/read-scores.ts'
import { answers, asks, sampleJob } from './testing/sample-job.ts'
import { sealer, useFixture } from './testing/use-fixture.ts'

const used = useFixture()

test('jobs of one project that take long, however many, hold up no other project', async () => {
  await used.startJudged({ SCORER_CONCURRENCY: '4', JUDGE_CONCURRENCY: '100' })
  const release = used.judge.hold('[[held]]')
  const project_id = newId('project')
  const slow = Array.from({ length: 12 }, (_unused, index) =>
    sampleJob(sealer, { request: asks(`[[held]] ${index}`), response: answers('x') }, { project_id }),
  )
  await used.fixture.send(slow)
  await until(async () => (await inFlight('scorer')) === slow.length)
  const others = Array.from({ length: 4 }, () => sampleJob(sealer, { request: asks('hi') }))
  await used.fixture.send(others)
  for (const { request_id } of others) await scoresOf(used.fixture, request_id)
  const isSlow = new Set(slow.map(({ request_id }) => request_id))
  expect(used.fixture.recorded.filter(({ request_id }) => isSlow.has(request_id))).toEqual([])
  release()
  for (const { request_id } of slow) await scoresOf(used.fixture, request_id)
})

test('the judge is asked for another project long before it was asked all that one waits for', async () => {
  await used.startJudged({ JUDGE_CONCURRENCY: '1' })
  const release = used.judge.hold('[[held]]')
  const project_id = newId('project')
  const judged = (words: string, changes = {}) =>
    sampleJob(sealer, { request: asks(`[[held]] ${words}`) }, { scorers: ['content_safety'], ...changes })
  const many = Array.from({ length: 10 }, (_unused, index) => judged(`a of ten ${index}`, { project_id }))
  await used.fixture.send(many)
  const asked = () =>
    used.judge.requests
      .map(({ body }) => /a of ten|b alone/.exec(JSON.stringify(body))?.[0])
      .filter((words) => words !== undefined)
  // One is being asked, and the next one's budget is reserved.
  const stand = async (count: number) => asked().length === count && (await waiting('judge')) === 1
  await until(() => stand(1))
  const other = judged('b alone')
  await used.fixture.send([other])
  await until(async () => (await waiting('judge_slot')) === many.length - 1)
  release()
  const releaseNext = used.judge.hold('[[held]]')
  // Wait before answering again: in 1 of 160 runs the judge was faster than reservations and got more than
  // four requests.
  await until(() => stand(2))
  releaseNext()
  for (const { request_id } of [...many, other]) await scoresOf(used.fixture, request_id)
  expect(asked().length).toBe(many.length + 1)
  expect(asked().indexOf('b alone')).toBe(2)
})

describe('replays', () => {
  test('are scored under their own run, without events unless asked, and what cannot be scored is dead-lettered', async () => {
    await used.start()
    const request = asks('My card is 4111 1111 1111 1111.')
    const quiet = sampleJob(sealer, { request }, { run_id: newId('run') })
    const loud = sampleJob(sealer, { request }, { run_id: newId('run'), raise_events: true })
    const bad = sampleJob(sealer, { request }, { run_id: newId('run'), tier: 'platinum' })
    const before = used.fixture.deadLetters.length
    await used.fixture.send([bad, quiet, loud], topics.scoreJobsReplay)
    expect(await scoresOf(used.fixture, quiet.request_id)).toMatchObject({
      run_id: quiet.run_id,
      raise_events: false,
    })
    expect(await scoresOf(used.fixture, loud.request_id)).toMatchObject({
      run_id: loud.run_id,
      raise_events: true,
    })
    await until(() => used.fixture.deadLetters.length === before + 1)
  })

  test('wait while a live job is late, and go on when it is done', async () => {
    await used.startJudged()
    const release = used.judge.hold('[[held]]')
    const late = sampleJob(
      sealer,
      { request: asks('[[held]] a live call'), response: answers('x') },
      { queued_at: Date.now() - 60_000 },
    )
    await used.fixture.send([late])
    await until(() => used.judge.requests.some(({ body }) => JSON.stringify(body).includes('[[held]]')))
    const replayed = sampleJob(sealer, { request: asks('old') }, { run_id: newId('run') })
    await used.fixture.send([replayed], topics.scoreJobsReplay)
    const live = sampleJob(sealer, { request: asks('new') })
    await used.fixture.send([live])
    await scoresOf(used.fixture, live.request_id)
    const paused = () => used.running.metrics.registry.getSingleMetric('sluice_scorer_replay_paused')?.get()
    await until(async () => (await paused())?.values[0]?.value === 1)
    await until(async () => (await inFlight('scorer-replay')) === 1)
    expect(used.fixture.recorded.some(({ request_id }) => request_id === replayed.request_id)).toBe(false)
    release()
    await scoresOf(used.fixture, late.request_id)
    await scoresOf(used.fixture, replayed.request_id)
  })
})

test('while Postgres is away jobs wait; when it is back they are scored', async () => {
  const line = await openLine(used.fixture.environment['DATABASE_URL'] ?? '')
  await used.start({ DATABASE_URL: line.url })
  line.cut()
  const job = sampleJob(sealer, { request: asks('hi') })
  await used.fixture.send([job])
  const retries = () => used.running.metrics.registry.getSingleMetric('sluice_kafka_retries_total')?.get()
  await until(
    async () =>
      (await retries())?.values.some(({ labels }) => labels['code'] === 'POSTGRES_UNAVAILABLE') === true,
  )
  expect(used.running.service.health().status).toBe('degraded')
  line.mend()
  expect(scoreBy('pii_detection', await scoresOf(used.fixture, job.request_id)).score_label).toBe('safe')
  await used.running.service.stop()
  await line.close()
})

async function waiting(what: string): Promise<number> {
  const gauge = await used.running.metrics.registry.getSingleMetric('sluice_scorer_waiting_jobs')?.get()
  return (
    gauge?.values.find(({ labels }) => labels['what'] === what && labels['lane'] === 'live')?.value ?? NaN
  )
}

async function inFlight(group: string): Promise<number> {
  const gauge = await used.running.metrics.registry.getSingleMetric('sluice_kafka_in_flight_records')?.get()
  return gauge?.values.find(({ labels }) => String(labels['group']).endsWith(group))?.value ?? 0
}

test('two scorers, one stopped in mid-stream: each job is scored, with the same identifiers', async () => {
  await used.start()
  const second = await used.start()
  const jobs = Array.from({ length: 300 }, (_unused, index) =>
    sampleJob(sealer, { request: asks(`call ${index}`), response: answers('fine') }),
  )
  const wanted = new Set(jobs.map(({ request_id }) => request_id))
  const ours = () => used.fixture.recorded.filter(({ request_id }) => wanted.has(request_id))
  await used.fixture.send(jobs.slice(0, 150))
  await until(() => ours().length > 20)
  await second.service.stop()
  await used.fixture.send(jobs.slice(150))
  await until(() => new Set(ours().map(({ request_id }) => request_id)).size === jobs.length)
  for (const calls of Map.groupBy(ours(), ({ request_id }) => request_id).values()) {
    const ids = calls.map(({ scores }) =>
      scores
        .map(({ id }) => id)
        .sort()
        .join(),
    )
    expect(new Set(ids).size).toBe(1)
  }
})
