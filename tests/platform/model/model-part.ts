import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GuardKind } from '#services/scorer/scoring/judge/judge-kinds.ts'
import type { ScorerFixture } from '#services/scorer/testing/scorer-fixture.ts'
import type { PlatformContext, PlatformPart } from '../platform-part.ts'
import { checkFailures } from './check-failures.ts'
import { fetchModel } from './fetch-model.ts'
import { fetchModelServer } from './fetch-model-server.ts'
import { guardForms } from './guard-forms.ts'
import { createModelServer, type ModelServer } from './model-server.ts'
import { startJudgedScorer, summarise, type Said, type ScoredCall } from './scored-calls.ts'
import { startFixture } from './start-fixture.ts'

/** Plain questions, which no detector proves anything about. */
const calls: readonly Said[] = [
  { request: 'How do I kill a Python process?', answer: 'Use kill -9 with its number.' },
  { request: 'Write a poem about the sea.', answer: 'The sea is wide, the sea is blue.' },
  { request: 'Which wine goes with fish?', answer: 'A dry white one.' },
  { request: 'Wie koche ich Linsensuppe?', answer: 'Mit Suppengrün, Linsen und etwas Essig.' },
]

/** What the lines at the end say. */
interface Shown {
  context: PlatformContext
  fixture: ScorerFixture
  server: ModelServer
  directory: string
  lines: string[]
}

export const modelPart: PlatformPart = {
  about: 'the judge on a real local model server: structured output, guard formats, failures, budgets',
  async run(context) {
    const { report, cache, say, undo } = context
    const program = await report.need("llama.cpp's server is in the cache", () =>
      fetchModelServer(cache, say),
    )
    const model = await report.need('a model of 270 million parameters is in the cache', () =>
      fetchModel(cache),
    )
    const directory = await mkdtemp(join(tmpdir(), 'sluice-model-'))
    undo.push(() => rm(directory, { recursive: true, force: true }))
    const server = await createModelServer(program, model, directory)
    undo.push(() => server.kill())
    const fixture = await report.need('Kafka, the registry and Postgres start', () =>
      startFixture(context, directory),
    )
    const shown: Shown = { context, fixture, server, directory, lines: [] }
    await judgeAsJson(shown)
    await judgeAsGuard('qwen3guard', shown)
    await judgeAsGuard('llama_guard', shown)
    const start = () => startAs('llama_guard', shown)
    await report.need('the model server starts once more', start)
    shown.lines.push(...(await checkFailures(context, fixture, { ...server, start }, calls)))
    for (const line of shown.lines) say(line)
  },
}

async function judgeAsJson({ context: { report }, fixture, server, lines }: Shown): Promise<void> {
  await report.need('the model server starts', () => server.start())
  const judge = { OPENAI_BASE_URL: server.url }
  const scored = await judgeAll('JSON judge', judge, { fixture, lines }, calls.slice(0, 3))
  await report.check('the JSON judge answers in the form of its schema', () => {
    const whole = scored.flatMap(({ judge }) => parsed(judge?.raw_answer) ?? [])
    if (whole.length === 0) throw new Error('no answer is whole JSON')
    for (const answer of whole)
      if (Object.keys(answer).join() !== 'check,scores') throw new Error(JSON.stringify(answer).slice(0, 300))
  })
  await report.check('its invalid answers leave calls unscored, and never safe', () => requireSound(scored))
  await server.kill()
}

async function judgeAsGuard(kind: GuardKind, shown: Shown): Promise<void> {
  const { fixture, server, lines, context } = shown
  const { report } = context
  const judge = { OPENAI_BASE_URL: server.url, JUDGE_KIND: kind }
  await report.need(`the model server starts as a model that is no ${kind}`, () => server.start())
  const other = await judgeAll(`${kind}, a model that is none`, judge, { fixture, lines }, calls.slice(0, 2))
  await report.check(`it never counts as ${kind}: calls stay unscored`, () => {
    requireSound(other)
    if (other.some(({ reason }) => reason !== 'judge_answer_invalid')) throw new Error(JSON.stringify(other))
  })
  await server.kill()
  await report.need(`the model server starts with a template and the form of ${kind}`, () =>
    startAs(kind, shown),
  )
  const requests = calls.map(({ request }) => ({ request }))
  const formed = await judgeAll(`${kind}, requests in its form`, judge, { fixture, lines }, requests)
  await report.check(`real answers in the form of ${kind} become verdicts`, () => {
    requireSound(formed)
    if (formed.some(({ reason }) => reason === 'judge_answer_invalid' || reason === 'judge_unavailable'))
      throw new Error(JSON.stringify(formed))
  })
  if (kind === 'llama_guard') await judgeAnswers(shown, judge)
  await server.kill()
}

/** Answers as messages of their own; and continued by the server, as llama.cpp does by default. */
async function judgeAnswers(shown: Shown, judge: Readonly<Record<string, string>>): Promise<void> {
  const { server, context } = shown
  const { report } = context
  const both = await judgeAll('llama_guard, requests and answers', judge, shown)
  await report.check('answers are judged in their own message', () => {
    requireSound(both)
    if (
      both.some(
        ({ judge: trace }) => !/^(?:safe|unsafe\n\S+)\n\n(?:safe|unsafe\n\S+)$/.test(trace?.raw_answer ?? ''),
      )
    )
      throw new Error(JSON.stringify(both))
  })
  await server.kill()
  await report.need('the model server starts so that it continues answers', () =>
    startAs('llama_guard', shown, '--prefill-assistant'),
  )
  const continued = await judgeAll('llama_guard, answers continued', judge, shown, calls.slice(0, 2))
  await report.check('what it says then is no verdict about them', () => {
    requireSound(continued)
    if (continued.some(({ label }) => label === 'safe')) throw new Error(JSON.stringify(continued))
  })
}

async function startAs(
  kind: GuardKind,
  { server, directory }: Shown,
  prefill = '--no-prefill-assistant',
): Promise<void> {
  const { template, grammar } = guardForms[kind]
  const file = join(directory, `${kind}.jinja`)
  await writeFile(file, template)
  await server.start(prefill, '--jinja', '--chat-template-file', file, '--grammar', grammar)
}

async function judgeAll(
  what: string,
  environment: Readonly<Record<string, string>>,
  { fixture, lines }: Pick<Shown, 'fixture' | 'lines'>,
  given = calls,
): Promise<ScoredCall[]> {
  const scorer = await startJudgedScorer(fixture, environment)
  try {
    const startedMs = performance.now()
    const scored = await scorer.score(given)
    lines.push(summarise(what, scored, (performance.now() - startedMs) / 1_000))
    return scored
  } finally {
    await scorer.stop()
  }
}

/** Every verdict of a judge has an answer behind it, with its tokens and cost; what has none is unscored. */
function requireSound(scored: readonly ScoredCall[]): void {
  for (const { label, reason, judge } of scored) {
    if (judge?.raw_answer === undefined || judge.prompt_tokens === null || !((judge.cost_usd ?? 0) > 0))
      throw new Error(`a judge's call has no answer, tokens or cost: ${JSON.stringify(judge)}`)
    if ((reason === null) === (label === 'unscored')) throw new Error(`${label} with the reason ${reason}`)
  }
}

function parsed(answer: string | undefined): object | undefined {
  try {
    const value: unknown = JSON.parse(answer ?? '')
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
