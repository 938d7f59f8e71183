import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { topics } from '#schemas/topics.ts'
import { eventually } from '#tests/support/until.ts'
import {
  setSinkFixture,
  startSink,
  tapTopic,
  type RunningSink,
  type SinkFixture,
  type Tap,
} from '../testing/sink-fixture.ts'

jest.setTimeout(300_000)

let fixture: SinkFixture
let sinks: RunningSink[]
let events: Tap<RaisedEvent>

beforeAll(async () => {
  fixture = await setSinkFixture()
  sinks = await Promise.all([startSink(fixture), startSink(fixture)])
  const eventCodec = fixture.codecOf(topics.eventRaised)
  events = await tapTopic(fixture, topics.eventRaised.name, (bytes) => eventCodec.decode(bytes))
})

afterAll(async () => {
  await events.stop()
  await Promise.all(sinks.map(({ service }) => service.stop()))
  await fixture.close()
})

const eventsOf = (projectId: string) =>
  events.records.filter(({ key }) => key === projectId).map(({ value }) => value)

async function addEvents(projectId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('event'))
  await fixture.pool.query(
    `insert into event_outbox (id, event, project_id, created_at, data)
     select id, 'usage_alert', $1, now(), '{}' from unnest($2::uuid[]) as events (id)`,
    [idToUuid(projectId), ids.map(idToUuid)],
  )
  return ids
}

const untilPublished = () =>
  eventually(
    async () => (await fixture.pool.query('select from event_outbox where published_at is null')).rowCount,
    (waiting) => waiting === 0,
  )

test('two sinks share the outbox: each event is published once, under its project', async () => {
  const projects = await Promise.all([0, 1, 2].map(() => fixture.addProject()))
  const ids = (await Promise.all(projects.map((projectId) => addEvents(projectId, 700)))).flat()
  await untilPublished()
  const raised = () => projects.flatMap(eventsOf)
  await eventually(raised, (found) => found.length >= ids.length)
  expect(
    raised()
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(ids.toSorted())
  expect(raised().every((event) => event.event === 'usage_alert')).toBe(true)
})

test('every event is published, no matter who wrote it, and an oversized one without what it quotes', async () => {
  const projectId = await fixture.addProject()
  const insert = (id: string, content: Buffer | null) =>
    fixture.pool.query(
      `insert into event_outbox (id, event, project_id, created_at, data, content_codec, content_data, content_id)
       values ($1, 'threat_detected', $2, now(), $3, $4, $5, $6)`,
      [
        idToUuid(id),
        idToUuid(projectId),
        Buffer.from('{"request_id":"req_1"}'),
        content && 'none',
        content,
        content && 'req_1',
      ],
    )
  const ids = Array.from({ length: 20 }, () => newId('event'))
  for (const [index, id] of ids.entries()) await insert(id, index === 7 ? randomBytes(6 * 1024 * 1024) : null)
  // At least once: the neighbours of an event that cannot be sent may come twice, under the same identifier.
  const raised = await eventually(
    () => eventsOf(projectId),
    (found) => new Set(found.map(({ id }) => id)).size >= 20,
  )
  expect(new Set(raised.map(({ id }) => id))).toEqual(new Set(ids))
  const large = raised.find(({ id }) => id === ids[7])
  expect(large?.content).toBeNull()
  expect(JSON.parse(large?.data.toString() ?? '')).toEqual({
    request_id: 'req_1',
    prompt_snippet: '',
    completion_snippet: null,
  })
  await eventually(
    async () => (await fixture.pool.query('select from event_outbox where published_at is null')).rowCount,
    (waiting) => waiting === 0,
  )
})

test('two sinks share the rounds of their upkeep', async () => {
  const { rows } = await eventually(
    () =>
      fixture.pool.query<{ name: string }>(
        'select name from upkeep_rounds where ended_at is not null order by name',
      ),
    ({ rowCount }) => rowCount === 7,
  )
  expect(rows.map(({ name }) => name)).toEqual([
    'alert_rules',
    'cost_alerts',
    'quota_claims',
    'retention',
    'rollup_folding',
    'sweep',
    'verdicts',
  ])
  const runs = async (outcome: string) => {
    const name = `sluice_sink_task_runs_total{task="retention",outcome="${outcome}"}`
    return Promise.all(sinks.map(({ metric }) => metric(name)))
  }
  const waited = await eventually(
    () => runs('not_due'),
    (counts) => counts.some((count) => count > 0),
  )
  // Counted a moment after it is written down that it ended.
  const done = await eventually(
    () => runs('succeeded'),
    (counts) => counts.some((count) => count > 0),
  )
  expect(done.toSorted()).toEqual([0, 1])
  expect(waited.map((count) => count > 0)).toEqual(done.map((count) => count === 0))
})
