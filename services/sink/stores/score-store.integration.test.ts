import { expect, test } from '@jest/globals'
import { idToUuid } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { until } from '#tests/support/until.ts'
import { foldVerdicts } from '../steps/fold-verdicts.ts'
import { placeScores } from '../steps/place-score.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'
import { useErasingFixture } from '../testing/use-erasing-fixture.ts'
import { createRollupStore } from './rollup-store.ts'
import { createScoreStore } from './score-store.ts'
import { moveVerdicts } from './verdict-store.ts'

const world = useErasingFixture()

async function storedCall(): Promise<LoggedCall> {
  const call = sampleCall(await world.fixture.addProject())
  await world.fixture.store([call])
  return call
}

test("a score of a call that only another project has under that identifier is a miss, and its neighbour's is stored", async () => {
  const call = await storedCall()
  const stray = sampleCall(await world.fixture.addProject(), { id: call.id })
  const scores = [stray, call].flatMap((of) => placeScores(sampleScoredCall(of)))
  const stored = await createScoreStore(world.pool, createRollupStore()).store(scores, 0, () => [])
  expect(stored).toMatchObject({ missed: 1, added: [{ projectUuid: idToUuid(call.project_id) }] })
})

test('a sink that joins a verdict which another has just read takes back nothing of what that one adds', async () => {
  const call = await storedCall()
  const id = idToUuid(call.id)
  const verdictBy = (scorer: string) => {
    const scores = [sampleScore(call.project_id, call.id, { scorer_name: scorer })]
    return foldVerdicts(placeScores(sampleScoredCall(call, { scores })))
  }
  const [one, other] = [await world.pool.connect(), await world.pool.connect()]
  try {
    await moveVerdicts(one, verdictBy('pii_detection'))
    const { rows } = await other.query<{ pid: number }>('select pg_backend_pid() as pid')
    await one.query('begin')
    await one.query('select from request_verdicts where request_id = $1 for update', [id])
    const joined = moveVerdicts(other, verdictBy('hallucination'))
    await until(async () => {
      const waiting = 'select from pg_locks where pid = $1 and not granted'
      return (await world.pool.query(waiting, [rows[0]?.pid])).rowCount === 1
    })
    await one.query('update request_verdicts set score_count = score_count + 1 where request_id = $1', [id])
    await one.query('commit')
    expect(await joined).toMatchObject([{ before: { scoreCount: 2 }, after: { scoreCount: 3 } }])
  } finally {
    one.release()
    other.release()
  }
})
