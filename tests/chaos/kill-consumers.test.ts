import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { builtInScorers } from '#schemas/verdicts.ts'
import { setBreakableFixture, type BreakableFixture } from '../support/breakable-fixture.ts'
import { describeLedger, failingScores, readLedger, scorerSets } from '../support/pipeline-ledger.ts'
import { readMetric } from '../support/read-metric.ts'
import { realPrompts } from '../support/real-prompts.ts'
import { sendPrompts } from '../support/send-prompts.ts'
import type { ServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'

jest.setTimeout(400_000)

/** The guarantee is for a minute (CHAOS_SECONDS=60); the suite uses less. */
const outageMs = Number(process.env['CHAOS_SECONDS'] ?? 20) * 1_000
const killsOfEach = 2
// All of the enterprise tier. The custom scorer of evals/scorers.yaml is off.
const scorers = builtInScorers.length

let fixture: BreakableFixture

beforeAll(async () => {
  fixture = await setBreakableFixture({ durable: true })
})
afterAll(() => fixture.stop())

test('kill -9 of each consumer and a Postgres outage: each call stored once, scored once, each failing score delivered', async () => {
  const { stack, postgres, receiver } = fixture
  let faultsAreOver = false
  const prompts = realPrompts(400)
  const endless = Array.from({ length: 100 }, () => prompts).flat()
  // Rate-limited by four senders and a pause per call: more calls would only take longer.
  const sending = sendPrompts({
    ...stack,
    prompts: endless,
    concurrency: 4,
    pauseMs: 400,
    goOn: () => !faultsAreOver,
  })
  const faults = async () => {
    const { sink, scorer, notifier } = stack.processes
    for (let round = 0; round < killsOfEach; round++)
      for (const victim of [sink, scorer, notifier]) {
        await atWork(victim)
        await victim.killAndRestart()
      }
    await atWork(sink)
    await postgres.kill()
    await sleep(outageMs)
    await postgres.startAgain()
    await sleep(1_000)
  }
  // Applications notice nothing: a failed call rejects.
  const [sent] = await Promise.all([sending, faults().finally(() => (faultsAreOver = true))])

  const read = () => readLedger(stack.databaseUrl)
  await until(
    async () => {
      const { stored, scores, unpublished } = await read()
      return stored.length >= sent.length && scores.length >= sent.length * scorers && unpublished === 0
    },
    120_000,
    async () => describeLedger(await read(), sent.length),
  )
  const ledger = await readLedger(stack.databaseUrl)
  expect(ledger.stored.sort()).toEqual([...sent].sort())
  expect(scorerSets(ledger)).toHaveLength(1)
  expect(ledger.scores).toHaveLength(sent.length * scorers)

  const failing = failingScores(ledger)
  await receiver.waitFor(() => receiver.ids().length >= failing.length)
  const told = new Map(
    receiver.deliveries.map(({ id, envelope: { data } }) => [
      id,
      `${String(data['request_id'])}/${String(data['scorer_name'])}`,
    ]),
  )
  // At least once each, and repeats have the same id.
  expect([...told.values()].sort()).toEqual(failing)

  const restarts = Object.values(stack.processes).map(({ name, restarts: count }) => ({
    name,
    restarts: count(),
  }))
  // Detects a crash loop: with retries and backoff, an outage of a minute ends a process a few times at most.
  for (const { restarts: count } of restarts) expect(count).toBeLessThanOrEqual(killsOfEach + 12)
})

/** Resolves while it is handling records. */
const atWork = ({ operationsPort }: ServiceProcess) =>
  until(async () => (await readMetric(operationsPort, 'sluice_kafka_in_flight_records')) > 0)
