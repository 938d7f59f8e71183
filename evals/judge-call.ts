import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import OpenAI from 'openai'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import type { Call } from '#detectors/call-text.ts'
import { groupRubrics, type Grouping } from '#services/scorer/scoring/judge/group-rubrics.ts'
import { readGuardReply } from '#services/scorer/scoring/judge/guard-answer.ts'
import {
  judgeByGuard,
  rubricsForGuard,
  sidesToAsk,
  type GuardSaid,
} from '#services/scorer/scoring/judge/guard-judgement.ts'
import { makeGuardPrompt } from '#services/scorer/scoring/judge/guard-prompt.ts'
import {
  findingOf,
  hasPartialSide,
  readJudgeAnswer,
  shownInPart,
  sidesWithText,
  type Judgement,
} from '#services/scorer/scoring/judge/judge-answer.ts'
import type { GuardKind, JudgeKind } from '#services/scorer/scoring/judge/judge-kinds.ts'
import { materialOf } from '#services/scorer/scoring/judge/judge-material.ts'
import { makeJudgePrompt, type JudgeMaterial } from '#services/scorer/scoring/judge/judge-prompt.ts'
import { judgeRequest, type ModelPrompt } from '#services/scorer/scoring/judge/model-request.ts'
import { parseRubric, type Rubric, type Side } from '#services/scorer/scoring/judge/rubric.ts'
import type { JudgeCall, Scored } from './evaluate.ts'
import { addCosts, nothing, type JudgeCost } from './judge-cost.ts'

interface JudgeCallOptions {
  /** As in the scorer; undefined: OpenAI itself. */
  baseUrl: string | undefined
  apiKey: string | undefined
  model: string
  kind: JudgeKind
  rubricsDirectory: string
  /** `evidence`: together with rubrics that see the same text, as in the scorer; `separate`: alone. */
  grouping: Grouping
}

/** The cost of the requests so far. */
export interface JudgeUse {
  requests: number
  /** Judgements without a valid answer. */
  failed: number
  prompt_tokens: number
  completion_tokens: number
  /** Of the requests, which ran side by side. */
  seconds: number
}

/** UTF-16 units of each side in the judge's prompt: the scorer's default. */
const textLimit = 12_000
const attempts = 2
const timeoutMs = 60_000
const undecided: Scored = { value: 1, decided: false }

/** Asks, once more after an invalid answer. Undefined: twice invalid. */
type Ask = <T>(question: () => { prompt: ModelPrompt; read: (text: string) => T | undefined }) => Promise<{
  value: T | undefined
  cost: JudgeCost
}>

/**
 * Lets a real model read calls with the scorer's prompts and checks. Two invalid answers leave the sample
 * undecided. A model that does not answer ends the run: half a table would pass for a result.
 */
export function createJudgeCall(options: JudgeCallOptions): { judge: JudgeCall; use: JudgeUse } {
  const { rubricsDirectory, grouping, kind } = options
  const rubrics = readdirSync(rubricsDirectory)
    .filter((name) => name.endsWith('.md'))
    .map((name) => parseRubric(readFileSync(path.join(rubricsDirectory, name), 'utf8')))
  const use: JudgeUse = { requests: 0, failed: 0, prompt_tokens: 0, completion_tokens: 0, seconds: 0 }
  const ask = createAsk(options, use)
  const judge: JudgeCall = (scorer, call) => {
    const material = materialOf(call, textLimit)
    const readable = rubrics.filter((rubric) => sidesWithText(rubric, material).length > 0)
    if (kind !== 'json') return askGuard(kind, scorer, call, material, rubricsForGuard(kind, readable), ask)
    const group = groupRubrics(readable, material, grouping).find((members) => hasScorer(members, scorer))
    return askByRubrics(scorer, call, material, group ?? [], ask)
  }
  return { judge, use }
}

function createAsk({ baseUrl, apiKey = 'none', model }: JudgeCallOptions, use: JudgeUse): Ask {
  const client = new OpenAI({
    apiKey,
    baseURL: baseUrl ?? null,
    timeout: timeoutMs,
    maxRetries: 4,
    logLevel: 'off',
  })
  return async (question) => {
    let cost = nothing
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const { prompt, read } = question()
      const startedMs = performance.now()
      const completion = await client.chat.completions.create(judgeRequest(model, prompt))
      cost = addCosts(cost, {
        seconds: (performance.now() - startedMs) / 1_000,
        promptTokens: completion.usage?.prompt_tokens ?? 0,
        completionTokens: completion.usage?.completion_tokens ?? 0,
      })
      use.requests += 1
      const value = read(completion.choices[0]?.message.content ?? '')
      if (value !== undefined || attempt === attempts) {
        count(use, cost, value === undefined)
        return { value, cost }
      }
    }
    throw new Error('unreachable')
  }
}

function count(use: JudgeUse, cost: JudgeCost, hasFailed: boolean): void {
  use.prompt_tokens += cost.promptTokens
  use.completion_tokens += cost.completionTokens
  use.seconds += cost.seconds
  if (hasFailed) use.failed += 1
}

async function askByRubrics(
  scorer: BuiltInScorer,
  call: Call,
  material: JudgeMaterial,
  group: readonly Rubric[],
  ask: Ask,
): Promise<Scored> {
  const rubric = group.find((member) => member.scorer === scorer)
  if (rubric === undefined) return undecided
  const { value, cost } = await ask(() => {
    const check = randomBytes(8).toString('hex')
    return {
      prompt: makeJudgePrompt(group, material, { marker: randomBytes(12).toString('hex'), check }),
      read: (text) => readJudgeAnswer(text, group, material, check),
    }
  })
  const judgement = value?.get(scorer)
  return { ...(judgement === undefined ? undecided : conclude(judgement, rubric, material, call)), cost }
}

async function askGuard(
  kind: GuardKind,
  scorer: BuiltInScorer,
  call: Call,
  material: JudgeMaterial,
  rubrics: readonly Rubric[],
  ask: Ask,
): Promise<Scored> {
  const rubric = rubrics.find((member) => member.scorer === scorer)
  if (rubric === undefined) return undecided
  const said = new Map<Side, GuardSaid>()
  let cost = nothing
  for (const side of sidesToAsk(rubrics, material)) {
    const prompt = makeGuardPrompt(side, material)
    const answered = await ask(() => ({ prompt, read: (text) => readGuardReply(kind, side, prompt, text) }))
    cost = addCosts(cost, answered.cost)
    said.set(side, answered.value ?? { failed: 'judge_answer_invalid' })
  }
  const judgement = judgeByGuard(kind, rubrics, material, said).get(scorer)
  if (judgement === undefined || 'unjudged' in judgement) return { ...undecided, cost }
  return { ...conclude(judgement, rubric, material, call), cost }
}

/** As in the scorer: a text of which the judge saw only a part is never safe. */
function conclude(judgement: Judgement, rubric: Rubric, material: JudgeMaterial, call: Call): Scored {
  const parts = shownInPart(rubric, material)
  const { value } = findingOf(judgement, call, parts)
  return { value, decided: value >= rubric.failAt || !hasPartialSide(parts) }
}

function hasScorer(rubrics: readonly Rubric[], scorer: BuiltInScorer): boolean {
  return rubrics.some((rubric) => rubric.scorer === scorer)
}
