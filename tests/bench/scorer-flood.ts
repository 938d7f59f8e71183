import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePorts } from '#infra/embedded/free-port.ts'
import { createSealer } from '#runtime/sealing.ts'
import { newId } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { answers, asks, sampleJob } from '#services/scorer/testing/sample-job.ts'
import { setScorerFixture, type ScorerFixture } from '#services/scorer/testing/scorer-fixture.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { quantile } from '../support/quantile.ts'
import { realPrompts } from '../support/real-prompts.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'

/**
 * Milliseconds from the job of a small call to its scores, alone and during another project's flood of large
 * calls. One scorer, no judge.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    large: { type: 'string', default: '100' },
    megabytes: { type: 'string', default: '4' },
  },
})
const seconds = Number(values.seconds)
const perSecond = 10
/** A small call without scores by then counts with its time so far. */
const timeoutMs = 120_000
const sealer = createSealer([])
const [flooding, other] = [newId('project'), newId('project')]
const prompts = realPrompts(500)

const closeInfrastructure = await openBenchmark()
const fixture = await setScorerFixture()
const directory = await mkdtemp(join(tmpdir(), 'sluice-bench-flood-'))
const [operationsPort = 0] = await freePorts(1)
const scorer = await startServiceProcess({
  name: 'scorer',
  environment: { ...fixture.environment, NODE_OPTIONS: process.env['BENCH_NODE_OPTIONS'] ?? '' },
  operationsPort,
  logFile: join(directory, 'scorer.log'),
})
try {
  await sleep(3_000)
  await measureSmall(fixture, 5)
  const alone = await measureSmall(fixture, seconds)
  const flood = makeFlood()
  for (const job of flood) await fixture.send([job])
  const beside = await measureSmall(fixture, seconds)
  const isOfFlood = new Set(flood.map(({ request_id }) => request_id))
  const done = fixture.recorded.filter(({ request_id }) => isOfFlood.has(request_id)).length
  console.table({ alone: rowOf(alone), [`beside ${values.large} large calls`]: rowOf(beside) })
  console.log(`${done} of ${flood.length} large calls were scored meanwhile`)
  printFigures('scorer-flood', {
    small_p95_ms_alone: quantile(alone, 0.95),
    small_p95_ms_beside_flood: quantile(beside, 0.95),
    small_p95_ratio: ratio(quantile(beside, 0.95), quantile(alone, 0.95)),
    large_scored_meanwhile: done,
  })
} finally {
  await scorer.stop()
  await fixture.close()
  await rm(directory, { recursive: true })
  await closeInfrastructure()
}

/** Times from sending small calls at a constant rate to their scores. */
async function measureSmall(fixture: ScorerFixture, forSeconds: number): Promise<number[]> {
  const sent: ScoreJob[] = []
  const sending: Promise<void>[] = []
  const startedMs = performance.now()
  for (let number = 0; number < forSeconds * perSecond; number++) {
    await sleep(Math.max(0, startedMs + (number * 1_000) / perSecond - performance.now()))
    const prompt = prompts[number % prompts.length] ?? ''
    const job = sampleJob(
      sealer,
      { request: asks(prompt), response: answers('A mile.') },
      { project_id: other },
    )
    sent.push(job)
    sending.push(fixture.send([job]))
  }
  await Promise.all(sending)
  const scoredAt = () =>
    new Map(fixture.recorded.map(({ request_id, scores }) => [request_id, scores[0]?.scored_at ?? NaN]))
  const isDone = () => {
    const known = scoredAt()
    return sent.every(({ request_id }) => known.has(request_id))
  }
  const giveUpAt = Date.now() + timeoutMs
  await until(() => isDone() || Date.now() > giveUpAt, 2 * timeoutMs)
  const known = scoredAt()
  return sent.map(({ request_id, queued_at }) => (known.get(request_id) ?? Date.now()) - queued_at)
}

function makeFlood(): ScoreJob[] {
  return Array.from({ length: Number(values.large) }, (_unused, index) => {
    const text = [`Call ${index}.`]
    for (let chars = 0, at = index; chars < Number(values.megabytes) * 1_000_000; at++) {
      const prompt = prompts[at % prompts.length] ?? ''
      text.push(prompt)
      chars += prompt.length + 1
    }
    return sampleJob(sealer, { request: asks(text.join('\n')) }, { project_id: flooding })
  })
}

function rowOf(times: readonly number[]) {
  const at = (share: number) => Math.round(quantile(times, share))
  return { calls: times.length, 'p50 ms': at(0.5), 'p95 ms': at(0.95), 'max ms': at(1) }
}
