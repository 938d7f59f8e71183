import { parseArgs } from 'node:util'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { idToUuid, liveRunId, newId, scoreId } from '#schemas/ids.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { builtInScorers } from '#schemas/verdicts.ts'
import { placeScores, type PlacedScore } from '#services/sink/steps/place-score.ts'
import { makeThreatEvent } from '#services/sink/steps/make-threat-event.ts'
import { createDayPartitions, dayOf } from '#services/sink/stores/day-partitions.ts'
import { createFindingStore, type FindingStore } from '#services/sink/stores/finding-store.ts'
import { createRollupStore } from '#services/sink/stores/rollup-store.ts'
import { createScoreStore } from '#services/sink/stores/score-store.ts'
import { createSuppressionStore } from '#services/sink/stores/suppression-store.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { cpuOfProcess } from '../support/bench-process.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { createTestDatabase } from '../support/infrastructure.ts'
import { createCallStorage } from '../support/store-calls.ts'

/**
 * CPU time that storing the scores of a call takes, with findings and without their statements, when none,
 * 1 % and 20 % of the calls are unsafe: of this process and of its Postgres backend. All scorers judge each
 * call; a sink at 240 calls a second has about five calls in a batch. Rounds alternate, as a busy machine
 * changes.
 * `--pipeline`: microseconds that a call takes of the whole pipeline at 240 calls a second
 * (docs/benchmarks/pipeline.jsonl).
 */
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1500' },
    rounds: { type: 'string', default: '6' },
    batch: { type: 'string', default: '5' },
    pipeline: { type: 'string', default: '8308' },
  },
})
const [callCount, rounds] = [Number(values.calls), Number(values.rounds)]
const [batchCalls, pipelineUs] = [Number(values.batch), Number(values.pipeline)]
const withoutFindings: FindingStore = {
  assign: (_client, scores) => Promise.resolve({ scores: [...scores], overflowCount: 0 }),
  count: (_client, added) => Promise.resolve({ added: [...added], events: [] }),
}
const stores = { with: createFindingStore(), without: withoutFindings }
const shares = { safe: 0, 'unsafe 1 %': 0.01, 'unsafe 20 %': 0.2 }
const agents = many(10, (index) => `agent ${index}`)

const stopInfrastructure = await openBenchmark()
const database = await createTestDatabase()
const [ours, measured] = [2, 1].map((max) => new pg.Pool({ connectionString: database.url, max }))
if (ours === undefined || measured === undefined) throw new Error('no pools')
try {
  const days = createDayPartitions({ pool: ours, clock: systemClock, maxAgeDays: 2 })
  for (const day of [0, 1]) await days.make(dayOf(Date.now() + day * 86_400_000))
  const projectId = newId('project')
  await ours.query(`insert into projects (id, name, created_at) values ($1, 'p', now())`, [
    idToUuid(projectId),
  ])
  const spent = new Map<string, number[]>()
  const storeOf = Object.fromEntries(
    Object.entries(stores).map(([name, findings]) => [
      name,
      createScoreStore(measured, createRollupStore(), createSuppressionStore(), findings),
    ]),
  )
  for (let round = 0; round <= rounds; round++)
    for (const [name, share] of Object.entries(shares))
      // In turn the first one: the tables grow meanwhile.
      for (const [kind, store] of inTurn(Object.entries(storeOf), round)) {
        const batches = await makeBatches(projectId, share)
        const us = await cpuOf(measured, async () => {
          for (const [index, batch] of batches.entries()) await store.store(batch, index % 3, eventsOf)
        })
        // The first round warms up.
        if (round > 0) spent.set(`${name} ${kind}`, [...(spent.get(`${name} ${kind}`) ?? []), us / callCount])
      }
  report(spent)
} finally {
  await Promise.all([ours.end(), measured.end()])
  await database.drop()
  await stopInfrastructure()
}

function eventsOf(added: readonly PlacedScore[]): RaisedEvent[] {
  return added
    .filter(({ score }) => score.score_label === 'unsafe')
    .map(({ call, score, finding }) => makeThreatEvent(call, score, '', { isSuppressed: false, finding }))
}

async function makeBatches(projectId: string, share: number): Promise<PlacedScore[][]> {
  const calls = many(callCount, (index) => sampleCall(projectId, { agent_name: agents[index % 10] ?? null }))
  await createCallStorage(ours as pg.Pool).calls(calls)
  // Spread evenly: as many unsafe calls in each round.
  const isUnsafe = (index: number) => Math.floor(index * share) !== Math.floor((index + 1) * share)
  const scores = calls.map((call, index) => scoresOf(call, isUnsafe(index), index))
  return many(Math.ceil(callCount / batchCalls), (index) =>
    scores.slice(index * batchCalls, (index + 1) * batchCalls).flat(),
  )
}

function scoresOf(call: LoggedCall, isUnsafe: boolean, index: number): PlacedScore[] {
  const run = liveRunId(call.project_id)
  const found = [{ kind: 'phone_number', tool: null, hash: Buffer.alloc(16, index % 100) }]
  const safe = { score_value: 1, score_label: 'safe', severity: null, found_values: null } as const
  const scores = builtInScorers.map((scorer_name) =>
    sampleScore(call.project_id, call.id, {
      ...{ id: scoreId(call.project_id, call.id, scorer_name, run), scorer_name },
      ...(isUnsafe && scorer_name === 'pii_detection' ? { found_values: found } : safe),
    }),
  )
  return placeScores(sampleScoredCall(call, { scores }))
}

/** Microseconds of CPU of this process and of the pool's one backend. */
async function cpuOf(pool: pg.Pool, work: () => Promise<void>): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]?.pid ?? 0
  const [backend, own] = [cpuOfProcess(pid) ?? 0, process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(own)
  return user + system + (cpuOfProcess(pid) ?? 0) - backend
}

function inTurn<T>(all: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? all : all.toReversed()
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? NaN
}

function report(spent: ReadonlyMap<string, readonly number[]>): void {
  const pairs = Object.keys(shares).map((name) => {
    const [one = [], other = []] = [spent.get(`${name} with`), spent.get(`${name} without`)]
    const added = medianOf(one.map((us, index) => us - (other[index] ?? NaN)))
    const usual = medianOf(other)
    return {
      name,
      'µs a call': Math.round(usual),
      added: Math.round(added),
      ratio: ratio(usual + added, usual),
    }
  })
  console.table(pairs)
  const [safe, rare, often] = pairs
  if (safe === undefined || rare === undefined || often === undefined) throw new Error('no figures')
  // At 20 % each batch has one unsafe call, at 1 % hardly any has two. Safe ones ask no statement: what they
  // add is the error of these figures.
  const perBatchUs = often.added * batchCalls
  const addedUs = perBatchUs * shares['unsafe 1 %']
  console.log(
    `an unsafe call alone in its batch costs ${Math.round(perBatchUs)} µs more: at 1 % ${addedUs.toFixed(1)} µs a call, ${((addedUs / pipelineUs) * 100).toFixed(2)} % of ${pipelineUs}`,
  )
  printFigures('findings', {
    ratio_safe: safe.ratio,
    ratio_1_percent: rare.ratio,
    ratio_20_percent: often.ratio,
    us_per_unsafe_batch: Math.round(perBatchUs),
    us_per_call_at_1_percent: Number(addedUs.toFixed(1)),
    share_of_pipeline: ratio(addedUs, pipelineUs),
  })
}
