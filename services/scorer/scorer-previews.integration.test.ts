import { expect, test } from '@jest/globals'
import { idTimeMs, idToUuid, newId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { until } from '#tests/support/until.ts'
import type { PreviewHit } from './previews/preview-count.ts'
import { criterion, words } from './testing/definitions.ts'
import { answers, asks } from './testing/sample-job.ts'
import { sealer, useFixture } from './testing/use-fixture.ts'

const used = useFixture()

const order = async (projectId: string, definition: object) => {
  const id = newId('scorerPreview')
  const scorer = {
    id: idToUuid(newId('projectScorer')),
    name: 'preview',
    version: 0,
    definition,
    description: null,
    severity: 'high',
    owasp_category: null,
  }
  await used.fixture.pool.query(
    `insert into scorer_previews (id, project_id, scorer, days, created_at) values ($1, $2, $3, 7, now())`,
    [idToUuid(id), idToUuid(projectId), scorer],
  )
  const read = async () =>
    (
      await used.fixture.pool.query<{
        status: string
        problem: string | null
        report: object
        hits_codec: string
        hits_key_id: string
        hits_data: Buffer | null
      }>('select * from scorer_previews where id = $1', [idToUuid(id)])
    ).rows[0]
  await until(async () => ['done', 'failed'].includes((await read())?.status ?? ''))
  const row = await read()
  if (row === undefined) throw new Error('no preview')
  const { hits_codec: codec, hits_key_id: key_id, hits_data: data, ...rest } = row
  const identity = sealedIdentity(projectId, id, 'scorer_preview')
  const hits =
    data === null
      ? []
      : (JSON.parse(sealer.open({ codec, key_id, data }, identity).toString()) as PreviewHit[])
  return { ...rest, hits }
}
const store = (projectId: string, request: string) =>
  seedRequest(used.fixture.pool, sealer, {
    projectId,
    requestBody: JSON.stringify(asks(request)),
    responseBody: JSON.stringify(answers('Fine.')),
  })
const review = (projectId: string, requestId: string, expected: 'safe' | 'unsafe') =>
  used.fixture.pool.query(
    `insert into score_reviews (id, project_id, request_id, request_created_at, score_id, scorer_name, scorer_version, score_label,
       expected_label, agrees, reviewer, created_at)
     values (gen_random_uuid(), $1, $2, $3, gen_random_uuid(), 'pii_detection', '1', 'unscored', $4, true, 'test', now())`,
    [idToUuid(projectId), idToUuid(requestId), new Date(idTimeMs(requestId)), expected],
  )

test('says what keywords would find in this project alone, and how that agrees with the reviews', async () => {
  await used.start()
  const [project, other] = [await used.fixture.addProject({}), await used.fixture.addProject({})]
  const found = await store(project, 'My card 4111 1111 1111 1111 is for falcon.')
  const falseAlarm = await store(project, 'A falcon is a bird.')
  const missed = await store(project, 'The secret one.')
  await store(project, 'Hello.')
  await store(other, 'falcon')
  await review(project, found, 'unsafe')
  await review(project, falseAlarm, 'safe')
  await review(project, missed, 'unsafe')
  const { status, report, hits } = await order(project, words('falcon', '4111 1111 1111 1111'))
  expect([status, report]).toEqual([
    'done',
    {
      planned: 4,
      calls: 4,
      hits: 2,
      unscored: 0,
      unreadable: 0,
      without_bodies: 0,
      stopped_by: null,
      cost_usd: null,
      reviews: { calls: 3, agreed: 1, false_alarms: 1, missed: 1 },
    },
  ])
  const hit = hits.find(({ request_id }) => request_id === found)
  expect(hit).toMatchObject({ expected: 'unsafe', score_value: 5 })
  expect(hit?.matches.map(({ text }) => text)).toEqual(['falcon', '•••1111'])
  const { rows } = await used.fixture.pool.query('select from safety_scores where project_id = $1', [
    idToUuid(project),
  ])
  expect(rows).toEqual([])
})

test('asks the judge for a criterion within the budget, and stops where it is spent', async () => {
  await used.startJudged({ JUDGE_INPUT_USD_PER_MILLION: '1', JUDGE_OUTPUT_USD_PER_MILLION: '1' })
  const [project, poor] = [
    await used.fixture.addProject({}),
    await used.fixture.addProject({ judge_usd_per_period: 0 }),
  ]
  for (const one of [project, poor]) {
    await store(one, '[[harmful]] refund')
    await store(one, '[[fair]] refund')
  }
  const refunds = criterion('The answer promises a refund.')
  const { report, hits } = await order(project, refunds)
  expect(report).toMatchObject({ calls: 2, hits: 1, stopped_by: null, cost_usd: 0.001_48 })
  expect(hits).toMatchObject([{ score_value: 5 }])
  expect((await order(poor, refunds)).report).toMatchObject({ hits: 0, stopped_by: 'budget' })
})

test('that cannot run fails with the reason', async () => {
  await used.start()
  const project = await used.fixture.addProject({})
  expect(await order(project, criterion('x'))).toMatchObject({
    status: 'failed',
    problem: 'no judge is configured',
  })
  expect(await order(project, { kind: 'regex', patterns: ['(?=x)'] })).toMatchObject({ status: 'failed' })
})
