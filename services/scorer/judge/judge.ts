import { randomBytes } from 'node:crypto'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { projectScorerLabel } from '#schemas/project-scorer.ts'
import type { UnscoredReason } from '#schemas/unscored.ts'
import { makeCriterionPrompt, rubricOf, type Criterion } from '../scoring/judge/criterion.ts'
import { groupRubrics, type Grouping } from '../scoring/judge/group-rubrics.ts'
import { readJudgeAnswer, type Judgement, type Unjudged } from '../scoring/judge/judge-answer.ts'
import { makeJudgePrompt, type JudgeMaterial } from '../scoring/judge/judge-prompt.ts'
import type { Rubric } from '../scoring/judge/rubric.ts'
import { createAskTwice, type Trace } from './ask-twice.ts'
import type { PaidRequestsOptions } from './paid-requests.ts'
import type { Waiter } from './wait-queue.ts'

export type JudgeResult =
  | { kind: 'judged'; judgements: ReadonlyMap<string, Judgement | Unjudged>; trace: Trace }
  | { kind: 'failed'; reason: UnscoredReason; trace: Trace }

/** A call to be graded. */
export interface JudgeCase extends Waiter {
  /** One of the groups that {@link Judge.arrange} made. */
  rubrics: readonly Rubric[]
  material: JudgeMaterial
  /** Instead of rubrics. */
  criterion?: Criterion
}

export interface Judge {
  /** Whether the judge says anything about a scorer, or reads criteria in words. */
  covers(scorer: BuiltInScorer | 'criterion'): boolean
  /** Groups rubrics into requests, and changes them to what the judge applies. */
  arrange(rubrics: readonly Rubric[], material: JudgeMaterial, grouping: Grouping): Rubric[][]
  /** Grades one call. Model failures are results; rejects if `signal` aborts or the budget store fails. */
  judge(given: JudgeCase, signal: AbortSignal): Promise<JudgeResult>
  stop(): void
}

/** Has a model grade calls by our rubrics. After two failed attempts the call stays unscored. */
export function createJudge(options: PaidRequestsOptions): Judge {
  const { clock } = options
  const asking = createAskTwice(options)
  return {
    covers: () => true,
    arrange: groupRubrics,
    stop: () => asking.stop(),
    async judge({ projectId, lane, material, criterion, rubrics: given }, signal) {
      const startedMs = clock.now()
      const rubrics = criterion === undefined ? given : [rubricOf(criterion)]
      const who = {
        ...{ projectId, lane },
        scorers: criterion === undefined ? given.map(({ scorer }) => scorer) : [criterion.name],
        ...(criterion === undefined ? {} : { label: projectScorerLabel }),
      }
      const question = () => {
        const secrets = { marker: randomBytes(12).toString('hex'), check: randomBytes(8).toString('hex') }
        return {
          prompt:
            criterion === undefined
              ? makeJudgePrompt(given, material, secrets)
              : makeCriterionPrompt(criterion, material, secrets),
          read: (text: string) => readJudgeAnswer(text, rubrics, material, secrets.check),
        }
      }
      const answered = await asking.ask(who, question, signal)
      const trace = asking.traceOf([answered], rubrics.length, startedMs)
      return answered.kind === 'read'
        ? { kind: 'judged', judgements: answered.value, trace }
        : { kind: 'failed', reason: answered.reason, trace }
    },
  }
}
