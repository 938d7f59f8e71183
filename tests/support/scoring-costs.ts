import { systemClock } from '#runtime/clock.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { newId } from '#schemas/ids.ts'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import type { Judge, JudgeCase } from '#services/scorer/judge/judge.ts'
import { costOf, type JudgePrice } from '#services/scorer/judge/judge-price.ts'
import { parseBody, readCall, type Call } from '#detectors/call-text.ts'
import { groupRubrics } from '#services/scorer/scoring/judge/group-rubrics.ts'
import { makeJudgePrompt } from '#services/scorer/scoring/judge/judge-prompt.ts'
import { askJudge } from '#services/scorer/steps/ask-judge.ts'
import type { NamedVerdict } from '#detectors/verdict.ts'
import { runDetectors } from '#services/scorer/steps/run-detectors.ts'
import { answers } from '#services/scorer/testing/sample-job.ts'
import { readRubrics } from '#services/scorer/stores/read-evals.ts'
import { readJudgePrice } from '#services/scorer/stores/read-judge-price.ts'
import { createScorerMetrics } from '#services/scorer/scorer-metrics.ts'
import { createDetectorThreads } from '#services/scorer/threads/detector-threads.ts'
import { realPrompts } from './real-prompts.ts'

const never = new AbortController().signal
const noTurns = () => Promise.resolve()
/** An average for English prose, without a tokenizer. */
const bytesOfToken = 4
/** Per side a level, two sentences and a quotation, as JSON. */
const answerTokensOfRubric = 100
const judgeTextLimit = 12_000

/**
 * Real prompts of all kinds, each the user turn of a chat with a system prompt. Each answer is the next
 * prompt.
 */
export function sampleCalls(count: number): Call[] {
  const prompts = realPrompts(count)
  return prompts.map((prompt, index) => {
    const messages = [
      { role: 'system', content: 'You are the assistant of a travel agency. Answer in two sentences.' },
      { role: 'user', content: prompt },
    ]
    const response = answers(prompts[index - 1] ?? '')
    return readCall(parseBody(JSON.stringify({ messages })), parseBody(JSON.stringify(response)))
  })
}

const rounds = 12

/**
 * CPU microseconds per kB of bodies, of each detector alone and of all together, which share their analysis.
 * New calls in a warm process; the best of the rounds, because others use the machine.
 */
export async function measureDetectors(count: number): Promise<{ alone: Map<string, number>; all: number }> {
  const perKb = async (builtIn: readonly BuiltInScorer[]) => {
    let best = Infinity
    for (let round = 0; round < rounds; round++) {
      const calls = sampleCalls(count)
      const bytes = calls.reduce((sum, { request, response }) => sum + sizeOf(request) + sizeOf(response), 0)
      const before = process.cpuUsage()
      for (const call of calls) await runDetectors({ builtIn, custom: [] }, call, noTurns, () => undefined)
      const { user, system } = process.cpuUsage(before)
      best = Math.min(best, ((user + system) * 1_000) / bytes)
    }
    return best
  }
  const alone = new Map<string, number>()
  for (const name of builtInScorers) alone.set(name, await perKb([name]))
  return { alone, all: await perKb(builtInScorers) }
}

/**
 * Time of a large call in a thread against inline: the cost of the transfer. Alternating, both warm: a thread
 * compiles its own code.
 */
export async function measureThread(): Promise<{ inlineMs: number; threadMs: number }> {
  const text = realPrompts(300).join('\n').repeat(3)
  const call = readCall(parseBody(JSON.stringify({ messages: [{ role: 'user', content: text }] })), null)
  const chosen = { builtIn: builtInScorers, custom: [] }
  const threads = createDetectorThreads({
    threads: 1,
    timeoutMs: 60_000,
    metrics: createScorerMetrics(createMetrics()),
    clock: systemClock,
  })
  const msOf = async (run: () => Promise<void>) => {
    const startedMs = performance.now()
    await run()
    return performance.now() - startedMs
  }
  try {
    const ignore = () => undefined
    let [inlineMs, threadMs] = [Infinity, Infinity]
    for (let round = 0; round < rounds; round++) {
      inlineMs = Math.min(inlineMs, await msOf(() => runDetectors(chosen, call, noTurns, ignore)))
      threadMs = Math.min(
        threadMs,
        await msOf(() => threads.run(chosen, call, ignore, { lane: 'live', projectId: 'p' }, never)),
      )
    }
    return { inlineMs, threadMs }
  } finally {
    await threads.stop()
  }
}

/** What the judge would cost for these prompts, at gpt-4o-mini's price. */
export async function measureJudgeCosts(
  calls: readonly Call[],
): Promise<Record<string, { 'requests a call': number; 'US$ a million calls': number }>> {
  const price = readJudgePrice('infra/prices.json', 'gpt-4o-mini')
  if (price === null) throw new Error('gpt-4o-mini has no price')
  const table: Awaited<ReturnType<typeof measureJudgeCosts>> = {}
  const rows = [
    ['always', 'evidence'],
    ['always', 'separate'],
    ['uncertain', 'evidence'],
    ['uncertain', 'separate'],
    ['never', 'evidence'],
  ] as const
  for (const [judgeMode, judgeGrouping] of rows) {
    const book = createBook(price)
    const tools = { judge: book.judge, rubrics: readRubrics('evals/rubrics'), judgeTextLimit, judgeGrouping }
    const terms = { projectId: newId('project'), judgeMode, lane: 'live' } as const
    for (const call of calls) {
      const detected = new Map<string, NamedVerdict>()
      const chosen = { builtIn: builtInScorers, custom: [] }
      await runDetectors(chosen, call, noTurns, (found) => detected.set(found.scorer, found))
      await askJudge(builtInScorers, detected, call, terms, tools, never)
    }
    const { requests, usd } = book.total()
    table[`${judgeMode}, ${judgeGrouping === 'evidence' ? 'together' : 'apart'}`] = {
      'requests a call': Number((requests / calls.length).toFixed(2)),
      'US$ a million calls': Math.round((usd / calls.length) * 1_000_000),
    }
  }
  return table
}

const noTrace = {
  model: 'none',
  prompt_tokens: null,
  completion_tokens: null,
  cost_usd: null,
  asked_together: 0,
  latency_ms: 0,
}

/** A judge that records what each request would have cost and answers none. */
function createBook(price: JudgePrice): { judge: Judge; total: () => { requests: number; usd: number } } {
  let requests = 0
  let usd = 0
  const judge: Judge = {
    covers: () => true,
    arrange: groupRubrics,
    judge({ rubrics, material }: JudgeCase) {
      const { system, user } = makeJudgePrompt(rubrics, material, {
        marker: 'x'.repeat(24),
        check: 'x'.repeat(16),
      })
      requests += 1
      const promptTokens = (Buffer.byteLength(system) + Buffer.byteLength(user)) / bytesOfToken
      usd += costOf(price, promptTokens, answerTokensOfRubric * rubrics.length)
      return Promise.resolve({ kind: 'failed', reason: 'judge_unavailable', trace: noTrace })
    },
    stop: () => undefined,
  }
  return { judge, total: () => ({ requests, usd }) }
}

function sizeOf(body: Call['request']): number {
  return body === null ? 0 : Buffer.byteLength(body.json)
}
