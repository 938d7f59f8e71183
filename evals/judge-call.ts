import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import OpenAI from 'openai'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import type { Call } from '#detectors/call-text.ts'
import { groupRubrics, type Grouping } from '#services/scorer/scoring/judge/group-rubrics.ts'
import {
  findingOf,
  hasPartialSide,
  readJudgeAnswer,
  shownInPart,
  sidesWithText,
  type Judgement,
} from '#services/scorer/scoring/judge/judge-answer.ts'
import { materialOf } from '#services/scorer/scoring/judge/judge-material.ts'
import { makeJudgePrompt, type JudgeMaterial } from '#services/scorer/scoring/judge/judge-prompt.ts'
import { judgeRequest } from '#services/scorer/scoring/judge/model-request.ts'
import { parseRubric, type Rubric } from '#services/scorer/scoring/judge/rubric.ts'
import type { JudgeCall, Scored } from './evaluate.ts'

interface JudgeCallOptions {
  /** As in the scorer; undefined: OpenAI itself. */
  baseUrl: string | undefined
  apiKey: string | undefined
  model: string
  rubricsDirectory: string
  /** `evidence`: together with rubrics that see the same text, as in the scorer; `separate`: alone. */
  grouping: Grouping
}

/** The cost of the requests so far. */
export interface JudgeUse {
  requests: number
  failed: number
  prompt_tokens: number
  completion_tokens: number
}

/** UTF-16 units of each side in the judge's prompt: the scorer's default. */
const textLimit = 12_000
const attempts = 2
const timeoutMs = 60_000
const undecided: Scored = { value: 1, decided: false }

/**
 * Lets a real model read calls with the scorer's prompts and checks. Two invalid answers leave the sample
 * undecided. A model that does not answer ends the run: half a table would pass for a result.
 */
export function createJudgeCall(options: JudgeCallOptions): { judge: JudgeCall; use: JudgeUse } {
  const { baseUrl, apiKey = 'none', model, rubricsDirectory, grouping } = options
  const client = new OpenAI({
    apiKey,
    baseURL: baseUrl ?? null,
    timeout: timeoutMs,
    maxRetries: 4,
    logLevel: 'off',
  })
  const rubrics = readdirSync(rubricsDirectory)
    .filter((name) => name.endsWith('.md'))
    .map((name) => parseRubric(readFileSync(path.join(rubricsDirectory, name), 'utf8')))
  const use: JudgeUse = { requests: 0, failed: 0, prompt_tokens: 0, completion_tokens: 0 }

  const judge: JudgeCall = async (scorer, call) => {
    const material = materialOf(call, textLimit)
    const readable = rubrics.filter((rubric) => sidesWithText(rubric, material).length > 0)
    const group = groupRubrics(readable, material, grouping).find((members) => hasScorer(members, scorer))
    if (group === undefined) return undecided
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const check = randomBytes(8).toString('hex')
      const prompt = makeJudgePrompt(group, material, { marker: randomBytes(12).toString('hex'), check })
      const completion = await client.chat.completions.create(judgeRequest(model, prompt))
      use.requests += 1
      use.prompt_tokens += completion.usage?.prompt_tokens ?? 0
      use.completion_tokens += completion.usage?.completion_tokens ?? 0
      const judgement = readJudgeAnswer(
        completion.choices[0]?.message.content ?? '',
        group,
        material,
        check,
      )?.get(scorer)
      const rubric = group.find((member) => member.scorer === scorer)
      if (judgement !== undefined && rubric !== undefined) return conclude(judgement, rubric, material, call)
    }
    use.failed += 1
    return undecided
  }
  return { judge, use }
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
