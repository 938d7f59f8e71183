import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { topics } from '#schemas/topics.ts'
import { eventually } from '#tests/support/until.ts'
import { many, sampleCall } from './testing/sample-records.ts'
import {
  indexedDeadLetters,
  setSinkFixture,
  startSink,
  tapTopic,
  type RunningSink,
  type SinkFixture,
  type Tap,
} from './testing/sink-fixture.ts'

jest.setTimeout(300_000)

let fixture: SinkFixture
let sink: RunningSink
let jobs: Tap<ScoreJob>
let ephemeralJobs: Tap<ScoreJob>
let events: Tap<RaisedEvent>
let deadLetters: Tap<Buffer>
let ephemeralDeadLetters: Tap<Buffer>

beforeAll(async () => {
  fixture = await setSinkFixture()
  sink = await startSink(fixture)
  const jobCodec = fixture.codecOf(topics.scoreJobs)
  const eventCodec = fixture.codecOf(topics.eventRaised)
  const raw = (bytes: Buffer) => Promise.resolve(bytes)
  jobs = await tapTopic(fixture, topics.scoreJobs.name, (bytes) => jobCodec.decode(bytes))
  ephemeralJobs = await tapTopic(fixture, topics.scoreJobsEphemeral.name, (bytes) => jobCodec.decode(bytes))
  events = await tapTopic(fixture, topics.eventRaised.name, (bytes) => eventCodec.decode(bytes))
  deadLetters = await tapTopic(fixture, `${topics.requestLogged.name}.dlq`, raw)
  ephemeralDeadLetters = await tapTopic(fixture, `${topics.requestEphemeral.name}.dlq`, raw)
})

afterAll(async () => {
  await Promise.all([jobs, ephemeralJobs, events, deadLetters, ephemeralDeadLetters].map((tap) => tap.stop()))
  await sink.service.stop().then(() => sink.service.done)
  await fixture.close()
})

async function rowsOf(table: 'llm_requests' | 'llm_request_bodies', projectId: string) {
  const { rows } = await fixture.pool.query<Record<string, unknown>>(
    `select * from ${table} where project_id = $1`,
    [idToUuid(projectId)],
  )
  return rows
}
const stored = (projectId: string, count: number) =>
  eventually(
    () => rowsOf('llm_requests', projectId),
    (rows) => rows.length >= count,
  )
const jobIdsOf = (tap: Tap<ScoreJob>, projectId: string) =>
  tap.records.filter(({ value }) => value.project_id === projectId).map(({ value }) => value.request_id)
const queued = (tap: Tap<ScoreJob>, projectId: string, count: number) =>
  eventually(
    () => jobIdsOf(tap, projectId),
    (ids) => ids.length >= count,
  )

/**
 * Comes behind everything sent before on every partition: when its calls are queued, the others have been
 * worked on.
 */
async function pass(topic = topics.requestLogged, tap = jobs): Promise<void> {
  const projectId = await fixture.addProject()
  const zero_content_retention = topic === topics.requestEphemeral
  await fixture.sendCalls(
    many(60, () => sampleCall(projectId, { zero_content_retention })),
    topic,
  )
  await queued(tap, projectId, 60)
}

describe('calls', () => {
  test('are stored with every field, their bodies byte for byte, and queued once each under their request', async () => {
    const projectId = await fixture.addProject()
    const errorOf = (index: number) => (index % 2 === 0 ? null : `e${index}`)
    const calls = many(300, (at) => sampleCall(projectId, { completion_tokens: at, error: errorOf(at) }))
    await fixture.sendCalls(calls)
    const rows = await stored(projectId, 300)
    const { tool_names, search, ...call } = calls[0] as LoggedCall
    const { preview: _preview, tool_definitions: _definitions, ...first } = call
    const row = rows.find(({ id }) => id === idToUuid(first.id))
    const { request_body, response_body, received_at, tier, id, project_id, metadata, ...plain } = first
    const bigints = { prompt_tokens: '12', completion_tokens: '0', cached_tokens: '0' }
    expect(row).toMatchObject({ ...plain, ...bigints, metadata: JSON.parse(metadata ?? '') as object })
    expect(row).toMatchObject({ received_at: new Date(received_at), project_id: idToUuid(project_id) })
    expect([tier, tool_names, search?.key_id]).toEqual(['enterprise', [], 's1'])

    const bodies = await rowsOf('llm_request_bodies', projectId)
    expect(bodies).toHaveLength(300)
    expect(bodies.find((body) => body['request_id'] === idToUuid(id))).toMatchObject({
      request_codec: 'none',
      request_key_id: null,
      request_data: request_body?.data,
      response_data: response_body?.data,
    })
    const ids = await queued(jobs, projectId, 300)
    expect(ids.toSorted()).toEqual(calls.map((call) => call.id).toSorted())
    expect(jobs.records.every(({ key, value }) => key === value.request_id)).toBe(true)
    expect(jobs.records.find(({ key }) => key === id)?.value).toMatchObject({
      request_body,
      response_body,
      scorers: null,
    })
  })

  test("sent again, in one batch or later, are stored once and queued once; another project's same id is another call", async () => {
    const [projectId, otherId] = [await fixture.addProject(), await fixture.addProject()]
    const calls = many(40, () => sampleCall(projectId))
    const others = calls.map((call) => ({ ...call, project_id: otherId }))
    await fixture.sendCalls([...calls, ...calls, ...others])
    await queued(jobs, projectId, 40)
    await fixture.sendCalls(calls.map((call) => ({ ...call, model: 'another' })))
    await pass()
    const rows = await rowsOf('llm_requests', projectId)
    expect(rows).toHaveLength(40)
    expect(rows.every(({ model }) => model === 'gpt-4o-mini')).toBe(true)
    expect(jobIdsOf(jobs, projectId).toSorted()).toEqual(calls.map((call) => call.id).toSorted())
    expect(jobIdsOf(jobs, otherId)).toHaveLength(40)
  })

  test('of the unlimited tier move the counter by the rows stored; those of a limited one do not', async () => {
    const [unlimited, limited] = [await fixture.addProject('enterprise'), await fixture.addProject('pro')]
    const calls = many(30, () => sampleCall(unlimited))
    await fixture.sendCalls([...calls, ...calls, ...many(5, () => sampleCall(limited, { tier: 'pro' }))])
    await fixture.sendCalls(calls)
    await pass()
    const { rows } = await fixture.pool.query(
      'select project_id, requests_this_period from subscriptions where project_id = any ($1)',
      [[unlimited, limited].map(idToUuid)],
    )
    expect(rows).toEqual(
      expect.arrayContaining([
        { project_id: idToUuid(unlimited), requests_this_period: '30' },
        { project_id: idToUuid(limited), requests_this_period: '0' },
      ]),
    )
  })

  test('with tools raise new_tool_detected once for each name and project', async () => {
    const [projectId, otherId] = [await fixture.addProject(), await fixture.addProject()]
    const toolCall = (project: string, tool: string) =>
      sampleCall(project, { type: 'mcp_tool_call', tool_name: tool, source: 'mcp' })
    await fixture.sendCalls([
      ...many(20, (index) => toolCall(projectId, `tool-${index % 3}`)),
      sampleCall(otherId, { tool_names: ['tool-0', 'tool-0'] }),
    ])
    await pass()
    await fixture.sendCalls(many(10, (index) => toolCall(projectId, `tool-${index % 3}`)))
    await pass()
    const seen = () => events.records.filter(({ value }) => [projectId, otherId].includes(value.project_id))
    const raised = await eventually(seen, (records) => records.length >= 4)
    const toolOf = ({ value }: { value: RaisedEvent }) =>
      (JSON.parse(value.data.toString()) as { tool_name: string }).tool_name
    expect(raised.map((record) => `${record.key} ${toolOf(record)}`).toSorted()).toEqual(
      [
        `${otherId} tool-0`,
        ...['tool-0', 'tool-1', 'tool-2'].map((tool) => `${projectId} ${tool}`),
      ].toSorted(),
    )
    expect(raised.every(({ value }) => value.event === 'new_tool_detected')).toBe(true)
  })

  test('that come late are stored all the same: their day gets partitions', async () => {
    const projectId = await fixture.addProject()
    await fixture.sendCalls([sampleCall(projectId, { id: newId('request', Date.now() - 20 * 86_400_000) })])
    await stored(projectId, 1)
    expect(await rowsOf('llm_request_bodies', projectId)).toHaveLength(1)
  })
})

describe('calls whose content must not be kept', () => {
  test.each([
    ['kept', [topics.requestLogged, topics.requestEphemeral]],
    ['ephemeral', [topics.requestEphemeral, topics.requestLogged]],
  ])(
    'are stored without bodies and queued once from the ephemeral topic, the %s record first',
    async (_name, order) => {
      const projectId = await fixture.addProject()
      const whole = many(20, () => sampleCall(projectId, { zero_content_retention: true }))
      const recordsFor = (topic: typeof topics.requestLogged) =>
        topic === topics.requestEphemeral
          ? whole
          : whole.map((call) => ({ ...call, request_body: null, response_body: null }))
      for (const topic of order) {
        await fixture.sendCalls(recordsFor(topic), topic)
        await (topic === topics.requestEphemeral ? pass(topic, ephemeralJobs) : pass())
      }
      // And a client sends them again.
      await fixture.sendCalls(whole, topics.requestEphemeral)
      await pass(topics.requestEphemeral, ephemeralJobs)
      expect(await rowsOf('llm_requests', projectId)).toHaveLength(20)
      expect(await rowsOf('llm_request_bodies', projectId)).toEqual([])
      expect(jobIdsOf(jobs, projectId)).toEqual([])
      expect(jobIdsOf(ephemeralJobs, projectId).toSorted()).toEqual(whole.map(({ id }) => id).toSorted())
      expect(ephemeralJobs.records.find(({ key }) => key === whole[0]?.id)?.value.request_body).toEqual(
        whole[0]?.request_body,
      )
    },
  )

  test('never reach the tables with bodies, even when a record on the kept topic has them or one on the other denies it', async () => {
    const projectId = await fixture.addProject()
    await fixture.sendCalls([sampleCall(projectId, { zero_content_retention: true })])
    await fixture.sendCalls([sampleCall(projectId)], topics.requestEphemeral)
    const rows = await stored(projectId, 2)
    expect(rows.every((row) => row['zero_content_retention'] === true)).toBe(true)
    expect(await rowsOf('llm_request_bodies', projectId)).toEqual([])
    expect(jobIdsOf(jobs, projectId)).toEqual([])
  })

  test('leave a dead letter without their value', async () => {
    const id = newId('request')
    await fixture.send([
      { topic: fixture.prefix + topics.requestEphemeral.name, key: id, value: Buffer.from('secret words') },
    ])
    await eventually(
      () => ephemeralDeadLetters.records,
      (records) => records.some(({ key }) => key === id),
    )
    expect(ephemeralDeadLetters.records.find(({ key }) => key === id)?.value).toHaveLength(0)
  })
})

describe('records that cannot be stored', () => {
  test('go to the dead letters with their reason while their neighbours are stored', async () => {
    const projectId = await fixture.addProject()
    // One key, so one partition: poison and neighbours stand in one batch.
    const key = newId('request')
    const codec = fixture.codecOf(topics.requestLogged)
    const poison: [code: string, value: Buffer][] = [
      ['UNDECODABLE', Buffer.from('not avro')],
      ['UNSTORABLE', await codec.encode(sampleCall(projectId, { model: 'nul \u0000 inside' }))],
      ['UNSTORABLE', await codec.encode(sampleCall(projectId, { metadata: '{"a":"\\u0000"}' }))],
      ['UNSTORABLE', await codec.encode(sampleCall(projectId, { metadata: 'no json' }))],
      ['INVALID_IDENTIFIER', await codec.encode(sampleCall(projectId, { id: 'req_nonsense' }))],
      ['INVALID_IDENTIFIER', await codec.encode(sampleCall('prj_nonsense'))],
      ['NO_PARTITION', await codec.encode(sampleCall(projectId, { id: newId('request', 978e9) }))],
      [
        'NO_PARTITION',
        await codec.encode(sampleCall(projectId, { id: newId('request', Date.now() + 9 * 86_400_000) })),
      ],
    ]
    const neighbours = many(50, () => sampleCall(projectId))
    const values = await Promise.all(neighbours.map((call) => codec.encode(call)))
    poison.forEach(([, value], index) => values.splice(index * 6, 0, value))
    await fixture.send(
      values.map((value) => ({ topic: fixture.prefix + topics.requestLogged.name, key, value })),
    )
    expect(await stored(projectId, 50)).toHaveLength(50)
    expect((await queued(jobs, projectId, 50)).toSorted()).toEqual(neighbours.map(({ id }) => id).toSorted())
    const mine = () =>
      deadLetters.records
        .map((record, index) => ({ record, headers: deadLetters.headers[index] }))
        .filter(({ record }) => record.key === key)
    const letters = await eventually(mine, (found) => found.length >= poison.length)
    const codes = poison.map(([code]) => code).toSorted()
    expect(letters.map(({ headers }) => headers?.['sluice-dlq-code']).toSorted()).toEqual(codes)
    const bytes = letters.map(({ record }) => record.value.toString('hex'))
    expect(bytes.toSorted()).toEqual(poison.map(([, value]) => value.toString('hex')).toSorted())
    expect(await indexedDeadLetters(fixture, key, poison.length)).toEqual(codes)
  })
})
