import { setTimeout as sleep } from 'node:timers/promises'
import type { ScorerFixture } from '#services/scorer/testing/scorer-fixture.ts'
import type { PlatformContext } from '../platform-part.ts'
import type { ModelServer } from './model-server.ts'
import { startJudgedScorer, type JudgedScorer, type Said } from './scored-calls.ts'

/** After which the breaker tries one request. */
const restMs = 16_000
/** A guard's question may cost $0.0004 at most, and costs a twentieth of it. */
const budgetUsd = 0.000_5

/** The judge away, back again, and without a budget. Answers with lines for the end. */
export async function checkFailures(
  { report }: PlatformContext,
  fixture: ScorerFixture,
  server: Pick<ModelServer, 'url' | 'kill'> & { start(): Promise<void> },
  calls: readonly Said[],
): Promise<string[]> {
  const scorer = await startJudgedScorer(fixture, { OPENAI_BASE_URL: server.url, JUDGE_KIND: 'llama_guard' })
  const lines: string[] = []
  try {
    await report.check("a project's budget is kept, call by call", async () => {
      lines.push(await spendBudget(fixture, scorer, calls))
    })
    await server.kill()
    await report.check('a killed server leaves calls unscored, and is given a rest', async () => {
      lines.push(await callsWhileAway(scorer, calls))
    })
    await report.check('after the rest, a server that is back judges again', async () => {
      await server.start()
      await sleep(restMs)
      const [first] = await scorer.score(calls.slice(0, 1))
      if (first?.judge?.raw_answer === undefined) throw new Error(JSON.stringify(first))
    })
  } finally {
    await scorer.stop()
  }
  return lines
}

async function spendBudget(
  fixture: ScorerFixture,
  scorer: JudgedScorer,
  calls: readonly Said[],
): Promise<string> {
  const project_id = await fixture.addProject({ judge_usd_per_period: budgetUsd })
  let usd = 0
  let asked = 0
  for (let spent = false; !spent;) {
    const [call] = await scorer.score(calls.slice(asked % calls.length).slice(0, 1), { project_id })
    spent = call?.reason === 'budget_spent'
    usd += call?.judge?.cost_usd ?? 0
    if (!spent) asked += 1
  }
  if (asked === 0 || usd > budgetUsd) throw new Error(`${asked} calls cost $${usd} of $${budgetUsd}`)
  return `budget of $${budgetUsd}: ${asked} calls cost $${usd.toFixed(5)}, the next one was not asked about`
}

async function callsWhileAway(scorer: JudgedScorer, calls: readonly Said[]): Promise<string> {
  const before = await scorer.metric('sluice_judge_seconds_count')
  const many = Array.from({ length: 5 }, () => calls).flat()
  const scored = await scorer.score(many)
  const wrong = scored.filter(({ reason }) => reason !== 'judge_unavailable')
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong[0]))
  const attempts = await scorer.metric('sluice_judge_calls_total', { outcome: 'judge_unavailable' })
  const sent = (await scorer.metric('sluice_judge_seconds_count')) - before
  if (sent >= attempts) throw new Error(`all ${sent} attempts were sent to a server that is away`)
  return `server killed: ${scored.length} calls judge_unavailable; ${sent} of ${attempts} attempts sent, then the breaker opened`
}
