import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { idToUuid, newId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { topics } from '#schemas/topics.ts'
import { eventually } from '#tests/support/until.ts'
import { dayOf } from './stores/day-partitions.ts'
import { sampleCall, sampleScore, sampleScoredCall } from './testing/sample-records.ts'
import {
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
let events: Tap<RaisedEvent>
let deadLetters: Tap<Buffer>

beforeAll(async () => {
  fixture = await setSinkFixture()
  sink = await startSink(fixture)
  const eventCodec = fixture.codecOf(topics.eventRaised)
  events = await tapTopic(fixture, topics.eventRaised.name, (bytes) => eventCodec.decode(bytes))
  deadLetters = await tapTopic(fixture, `${topics.scoreRecorded.name}.dlq`, (bytes) => Promise.resolve(bytes))
})

afterAll(async () => {
  await Promise.all([events.stop(), deadLetters.stop()])
  await sink.service.stop()
  await fixture.close()
})

/** Calls that are stored and may be scored. */
async function storedCalls(
  projectId: string,
  count: number,
  changes: Partial<LoggedCall> = {},
): Promise<LoggedCall[]> {
  const calls = Array.from({ length: count }, () => sampleCall(projectId, changes))
  await fixture.sendCalls(calls)
  await countOf('llm_requests', projectId, count)
  return calls
}

async function rowsOf(table: string, projectId: string) {
  const { rows } = await fixture.pool.query<Record<string, unknown>>(
    `select * from ${table} where project_id = $1`,
    [idToUuid(projectId)],
  )
  return rows
}
const countOf = (table: string, projectId: string, count: number) =>
  eventually(
    () => rowsOf(table, projectId),
    (rows) => rows.length >= count,
  )
const eventsOf = (projectId: string) =>
  events.records
    .filter(({ key, value }) => key === projectId && value.event === 'threat_detected')
    .map(({ value }) => value)
const linesOf = (projectId: string) => sink.lines.filter((line) => line['project_id'] === projectId)

/** Comes behind everything sent before on every partition. */
async function pass(): Promise<void> {
  const projectId = await fixture.addProject()
  const calls = await storedCalls(projectId, 60)
  await fixture.sendScores(calls.map((call) => sampleScoredCall(call, { raise_events: false })))
  await countOf('safety_scores', projectId, 60)
}

describe('scores', () => {
  test('are stored with details and verdict; unsafe ones raise an event and each writes a line', async () => {
    const projectId = await fixture.addProject()
    const [call] = (await storedCalls(projectId, 1)) as [LoggedCall]
    const scores = [
      sampleScore(projectId, call.id, { score_value: 4, severity: 'high', scored_at: 1_790_000_000_000 }),
      sampleScore(projectId, call.id, {
        scorer_name: 'content_safety',
        score_value: 1,
        score_label: 'safe',
        severity: null,
        owasp_category: 'LLM05',
      }),
      sampleScore(projectId, call.id, {
        scorer_name: 'hallucination',
        score_value: null,
        score_label: 'unscored',
        severity: null,
        reason: 'judge_unavailable',
        details: null,
      }),
    ]
    await fixture.sendScores([sampleScoredCall(call, { scores })])
    const rows = await countOf('safety_scores', projectId, 3)
    expect(rows.find(({ scorer_name }) => scorer_name === 'pii_detection')).toMatchObject({
      request_id: idToUuid(call.id),
      score_value: 4,
      score_label: 'unsafe',
      severity: 'high',
      method: 'detector',
      owasp_category: 'LLM02',
      created_at: new Date(1_790_000_000_000),
    })
    expect(rows.find(({ scorer_name }) => scorer_name === 'hallucination')).toMatchObject({
      score_value: null,
      reason: 'judge_unavailable',
    })
    expect(await rowsOf('safety_score_details', projectId)).toHaveLength(2)
    expect(await rowsOf('request_verdicts', projectId)).toMatchObject([
      { worst_label: 'unsafe', worst_severity: 'high', score_count: 3 },
    ])

    const [event, ...others] = await eventually(
      () => eventsOf(projectId),
      (raised) => raised.length > 0,
    )
    expect(others).toEqual([])
    expect(event).toMatchObject({
      event: 'threat_detected',
      created_at: 1_790_000_000_000,
      content_id: call.id,
      webhook_id: null,
    })
    expect(event?.content?.data.toString()).toContain('prompt_snippet')
    expect(JSON.parse(event?.data.toString() ?? '')).toMatchObject({
      request_id: call.id,
      score_label: 'fail',
      score_value: 0.75,
    })

    const lines = await eventually(
      () => linesOf(projectId),
      (written) => written.length >= 3,
    )
    expect(lines).toHaveLength(3)
    expect(lines.find(({ scorer }) => scorer === 'pii_detection')).toMatchObject({
      level: expect.anything(),
      event: 'safety_score_written',
      request_id: call.id,
      score_label: 'fail',
      score_value: 0.75,
      severity: 'high',
    })
  })

  test('sent again or scored again change nothing: the first one wins, with one event and one line', async () => {
    const projectId = await fixture.addProject()
    const calls = await storedCalls(projectId, 10)
    const first = calls.map((call) => sampleScoredCall(call))
    const disagreeing = calls.map((call) =>
      sampleScoredCall(call, {
        scores: [sampleScore(projectId, call.id, { score_value: 1, score_label: 'safe', severity: null })],
      }),
    )
    await fixture.sendScores([...first, ...disagreeing])
    await countOf('safety_scores', projectId, 10)
    await fixture.sendScores([...disagreeing, ...first])
    await pass()
    const rows = await rowsOf('safety_scores', projectId)
    expect(rows.map(({ score_label }) => score_label)).toEqual(Array(10).fill('unsafe'))
    expect(await rowsOf('request_verdicts', projectId)).toMatchObject(
      Array(10).fill({ worst_label: 'unsafe', score_count: 1 }) as object[],
    )
    expect(
      await eventually(
        () => eventsOf(projectId),
        (raised) => raised.length >= 10,
      ),
    ).toHaveLength(10)
    expect(linesOf(projectId)).toHaveLength(10)
  })

  test('that come one after the other add up in the verdict, and a replay does not touch it or raise events', async () => {
    const projectId = await fixture.addProject()
    const [call] = (await storedCalls(projectId, 1)) as [LoggedCall]
    const safe = { score_value: 1, score_label: 'safe', severity: null } as const
    await fixture.sendScores([
      sampleScoredCall(call, { scores: [sampleScore(projectId, call.id, { scorer_name: 'a', ...safe })] }),
    ])
    await fixture.sendScores([
      sampleScoredCall(call, {
        scores: [sampleScore(projectId, call.id, { scorer_name: 'b', severity: 'medium' })],
      }),
    ])
    await fixture.sendScores([
      sampleScoredCall(call, {
        scores: [sampleScore(projectId, call.id, { scorer_name: 'c', severity: 'high' })],
      }),
    ])
    await fixture.sendScores([
      sampleScoredCall(call, { scores: [sampleScore(projectId, call.id, { scorer_name: 'd', ...safe })] }),
    ])
    const runId = newId('run')
    const replayed = sampleScore(projectId, call.id, {
      id: scoreId(projectId, call.id, 'a', runId),
      scorer_name: 'a',
    })
    await fixture.sendScores([
      sampleScoredCall(call, { run_id: runId, raise_events: false, scores: [replayed] }),
    ])
    await countOf('safety_scores', projectId, 5)
    expect(await rowsOf('request_verdicts', projectId)).toMatchObject([
      { worst_label: 'unsafe', worst_severity: 'high', score_count: 4 },
    ])
    await pass()
    const raised = await eventually(
      () => eventsOf(projectId),
      (events) => events.length >= 2,
    )
    expect(raised).toHaveLength(2)
  })

  test('of a call whose content is kept no longer are stored without their details, and so is a call that comes so late', async () => {
    const projectId = await fixture.addProject()
    const takenMs = Date.now() - 20 * 86_400_000
    const aged = () => ({ id: newId('request', takenMs), received_at: takenMs })
    const [call] = (await storedCalls(projectId, 1, aged())) as [LoggedCall]
    const day = dayOf(takenMs).replaceAll('-', '')
    await fixture.pool.query(
      `drop table safety_score_details_${day}, search_signatures_${day}, llm_request_bodies_${day}`,
    )
    await fixture.sendScores([sampleScoredCall(call)])
    await countOf('safety_scores', projectId, 1)
    expect(await rowsOf('safety_score_details', projectId)).toEqual([])
    await fixture.sendCalls([sampleCall(projectId, aged())])
    await countOf('llm_requests', projectId, 2)
  })

  test('of a request that is not there are counted and leave nothing', async () => {
    const projectId = await fixture.addProject()
    const before = await sink.metric('sluice_sink_scores_total{fate="no_request"}')
    await fixture.sendScores([sampleScoredCall(sampleCall(projectId))])
    await pass()
    expect(await rowsOf('safety_scores', projectId)).toEqual([])
    expect(await rowsOf('safety_score_details', projectId)).toEqual([])
    expect(eventsOf(projectId)).toEqual([])
    expect(await sink.metric('sluice_sink_scores_total{fate="no_request"}')).toBe(before + 1)
  })

  test('that no table takes are dead-lettered, their neighbours stored', async () => {
    const projectId = await fixture.addProject()
    const [bad, good] = (await storedCalls(projectId, 2)) as [LoggedCall, LoggedCall]
    const codec = fixture.codecOf(topics.scoreRecorded)
    const impossible = sampleScoredCall(bad, { scores: [sampleScore(projectId, bad.id, { score_value: 9 })] })
    const nameless = sampleScoredCall(bad, { run_id: 'live' })
    const key = bad.id
    const values = await Promise.all(
      [impossible, sampleScoredCall(good), nameless].map((call) => codec.encode(call)),
    )
    await fixture.send(
      values.map((value) => ({ topic: fixture.prefix + topics.scoreRecorded.name, key, value })),
    )
    expect(await countOf('safety_scores', projectId, 1)).toMatchObject([{ request_id: idToUuid(good.id) }])
    const codes = () => deadLetters.headers.map((headers) => headers['sluice-dlq-code'])
    expect((await eventually(codes, (found) => found.length >= 2)).toSorted()).toEqual([
      'INVALID_IDENTIFIER',
      'UNSTORABLE',
    ])
  })
})
