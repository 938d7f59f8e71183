import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { awaitTopics } from '#infra/create-topics.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { setGroupOffsets } from '#runtime/kafka/set-group-offsets.ts'
import { createLog } from '#runtime/log.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { topics } from '#schemas/topics.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'
import { until } from '#tests/support/until.ts'
import { writeCursor } from './http/paging.ts'

let api: RunningApi
let project: { projectId: string; key: string }
let calls: LoggedCall[]

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
  const storage = createCallStorage(api.pool)
  const body = (text: string) => ({ codec: 'none', key_id: null, data: Buffer.from(text) })
  calls = many(3, (index) =>
    sampleCall(project.projectId, {
      id: newId('request', Date.now() - 60_000 + index),
      request_body: body(
        '{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]}',
      ),
      response_body: body('{"choices":[{"message":{"role":"assistant","content":"hello"}}]}'),
    }),
  )
  await storage.calls(calls)
  await storage.scores(
    calls.map((call, index) =>
      sampleScoredCall(call, {
        scores: [
          index < 2
            ? sampleScore(call.project_id, call.id)
            : sampleScore(call.project_id, call.id, {
                score_label: 'unscored',
                score_value: null,
                severity: null,
              }),
        ],
      }),
    ),
  )
})

afterAll(() => api.stop())

describe('/api/reviews', () => {
  const review = (index: number, body: object, key = project.key) =>
    api.call('POST', '/api/reviews', {
      key,
      body: { request_id: calls[index]?.id, scorer_name: 'pii_detection', ...body },
    })

  test('keeps who agrees, counts agreement, and exports samples', async () => {
    const agreed = await review(0, { agrees: true, reviewer: 'ana' })
    expect([agreed.status, agreed.json['expected_label']]).toEqual([201, 'unsafe'])
    const changed = await review(0, { agrees: false, reviewer: 'ana', reason: 'an example address' })
    expect(changed.json).toMatchObject({ id: agreed.json['id'], agrees: false, expected_label: 'safe' })
    await review(1, { agrees: true, reviewer: 'ana' })
    await review(2, { agrees: false, expected_label: 'unsafe', reviewer: 'ben' })
    const get = async (path: string) => api.call('GET', path, { key: project.key })
    const list = await get('/api/reviews')
    expect(list.json).toMatchObject({
      total: 3,
      items: [{ reviewer: 'ben' }, { agrees: true }, { reason: 'an example address' }],
    })
    expect((await get('/api/reviews?agrees=false&limit=1')).json).toMatchObject({ total: 2, has_more: true })
    // The review of the cursor is deleted; the rest of the list is still there.
    const gone = await get(`/api/reviews?cursor=${writeCursor(newId('review'))}`)
    expect(gone.json['items']).toHaveLength(3)
    expect((await get('/api/reviews/agreement')).json).toEqual({
      scorers: [
        { scorer_name: 'pii_detection', reviews: 3, agreed: 1, disagreed: 2, false_alarms: 1, missed: 0 },
      ],
    })
    const byReviewer = await get('/api/reviews/agreement?reviewer=ben')
    expect(byReviewer.json).toMatchObject({ scorers: [{ reviews: 1, agreed: 0, missed: 0 }] })
    const { text } = await get('/api/reviews/export?reviewer=ana')
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ).toMatchObject([
      { label: 0, prompt: 'hi', response: 'hello', system: 'be brief', context: '' },
      { set: 'reviews', scorer: 'pii_detection', label: 1 },
    ])
  })

  test('exports each review once, and says of a call that cannot be read why', async () => {
    const { id: requestId } = calls[1] as LoggedCall
    await api.pool.query(
      `insert into score_reviews select gen_random_uuid(), project_id, request_id, request_created_at, score_id, scorer_name, scorer_version, score_label,
         expected_label, agrees, 'reviewer ' || place, null, '2026-01-01Z' from score_reviews, generate_series(1, 101) place where request_id = $1`,
      [idToUuid(requestId)],
    )
    const lines = async () => {
      const query = `request_id=${requestId}&end=2026-01-02T00:00:00Z`
      const { text } = await api.call('GET', `/api/reviews/export?${query}`, { key: project.key })
      return text.trimEnd().split('\n')
    }
    expect(await lines()).toHaveLength(101)
    await api.pool.query("update llm_request_bodies set request_key_id = 'k9' where request_id = $1", [
      idToUuid(requestId),
    ])
    const unread = await lines()
    expect(unread).toHaveLength(101)
    expect(JSON.parse(String(unread[0]))).toMatchObject({
      label: 1,
      error: expect.stringMatching(/^the bodies cannot be read: .*k9/),
    })
  })

  test('counts over any time what a recount counts, whatever came, changed and went', async () => {
    const { projectId, key } = await api.createProject()
    const hours = fc.integer({ min: 0, max: 71 })
    const label = fc.constantFrom('safe', 'unsafe')
    const scorer = fc.constantFrom('pii_detection', 'hallucination')
    const reviews = fc.array(fc.record({ hour: hours, label, expected: label, scorer }), { maxLength: 12 })
    const at = (hour: number) => new Date(Date.UTC(2026, 10, 18, hour, 30)).toISOString()
    const history = fc.record({ came: reviews, changed: hours, went: hours, start: hours, end: hours })
    const property = fc.asyncProperty(history, async ({ came, changed, went, start, end }) => {
      await api.pool.query('delete from score_reviews where project_id = $1', [idToUuid(projectId)])
      await api.pool.query(
        `insert into score_reviews select gen_random_uuid(), $1, gen_random_uuid(), now(), gen_random_uuid(), r.scorer, '1', r.label, r.expected,
           r.label = r.expected, 'ana', null, r.at from jsonb_to_recordset($2) r (scorer text, label text, expected text, at timestamptz)`,
        [idToUuid(projectId), JSON.stringify(came.map(({ hour, ...one }) => ({ ...one, at: at(hour) })))],
      )
      await api.pool.query(
        `update score_reviews set expected_label = 'safe', agrees = score_label = 'safe', created_at = created_at + interval '1 day'
         where project_id = $1 and created_at < $2`,
        [idToUuid(projectId), at(changed)],
      )
      await api.pool.query('delete from score_reviews where project_id = $1 and created_at < $2', [
        idToUuid(projectId),
        at(went),
      ])
      for (const query of [
        '',
        `?start=${at(start)}`,
        `?start=${at(start)}&end=${at(Math.max(start, end))}`,
      ]) {
        const answer = await api.call('GET', `/api/reviews/agreement${query}`, { key })
        // With a filter on the reviewer everything is counted one by one.
        const recount = await api.call('GET', `/api/reviews/agreement${query || '?'}&reviewer=ana`, { key })
        expect([query, answer.json]).toEqual([query, recount.json])
      }
    })
    await fc.assert(property, { numRuns: 15 })
    const left = await api.pool.query(
      `select from review_counts where project_id = $1 and reviews <> (select count(*) from score_reviews r
         where r.project_id = $1 and r.scorer_name = review_counts.scorer_name and date_trunc('day', r.created_at, 'UTC') = day)`,
      [idToUuid(projectId)],
    )
    expect(left.rowCount).toBe(0)
  })

  test('refuses what contradicts itself, and what is not there', async () => {
    for (const body of [{ agrees: true, expected_label: 'safe' }, {}, { agrees: true, reason: '' }])
      expect((await review(0, body)).status).toBe(422)
    expect((await review(2, { agrees: true })).status).toBe(422)
    expect((await review(0, { agrees: true, scorer_name: 'none' })).status).toBe(404)
    const other = await api.createProject()
    expect((await review(0, { agrees: true }, other.key)).status).toBe(404)
  })
})

test('GET /api/operations says what waits', async () => {
  const topic = api.topicPrefix + topics.requestLogged.name
  const kafka = createKafka(
    { KAFKA_BROKERS: testInfrastructure().brokers },
    { clientId: 'operations-test', log: createLog('operations-test', 'silent') },
  )
  for (let sent = 0; sent < 3; sent++)
    await api.call('POST', '/internal/log', { key: project.key, body: { request_body: {} } })
  const admin = kafka.admin()
  await admin.connect()
  const groupId = `${api.topicPrefix}sink-calls`
  const partitions = await admin.fetchTopicOffsets(topic)
  const unread = partitions.map(({ partition }) => ({ topic, partition, offset: 0n }))
  await setGroupOffsets(kafka, groupId, unread)
  // Of two waiting jobs the older is ten minutes old; one from an hour ago is finished.
  const jobs = api.topicPrefix + topics.scoreJobs.name
  const scorers = `${api.topicPrefix}scorer`
  await admin.createTopics({ topics: [{ topic: jobs, numPartitions: 1 }], waitForLeaders: false })
  await awaitTopics(admin, [{ name: jobs, partitions: 1 }])
  const producer = kafka.producer()
  await producer.connect()
  const made = [3_600_000, 600_000, 1_000].map((agoMs) => ({
    value: 'x',
    timestamp: String(Date.now() - agoMs),
  }))
  await producer.send({ topic: jobs, messages: made })
  await producer.disconnect()
  await setGroupOffsets(kafka, scorers, [{ topic: jobs, partition: 0, offset: 1n }])
  const ask = () => api.call('GET', '/api/operations', { operator: true })
  // A send that the broker refused at first is reported for a minute.
  const health = async () => (await ask()).json['health'] as { status: string }
  await until(
    async () => (await health()).status === 'ok',
    undefined,
    async () => JSON.stringify(await health()),
  )
  const { json, status } = await ask()
  expect(status).toBe(200)
  expect(json).toMatchObject({
    health: { status: 'ok', problems: {} },
    groups: [
      { group: 'scorer', topic: topics.scoreJobs.name, lag: 2 },
      { group: 'sink-calls', topic: topics.requestLogged.name, lag: 3, partitions: 6, members: 0 },
    ],
    dead_letters: [],
    // The finding of the failing score.
    outbox: { unpublished: 1 },
    deliveries_waiting: 0,
    partitions: { days: 1 },
    gateways: [],
  })
  const age = Number(json['oldest_job_age_s'])
  expect(age >= 599 && age < 3_500).toBe(true)
  await admin.deleteGroups([groupId, scorers])
  await admin.disconnect()
})
