import { randomBytes } from 'node:crypto'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import type { UnscoredReason } from '#schemas/unscored.ts'
import { groupRubrics, type Grouping } from '../scoring/judge/group-rubrics.ts'
import { readJudgeAnswer, type Judgement, type Unjudged } from '../scoring/judge/judge-answer.ts'
import { makeJudgePrompt, type JudgeMaterial } from '../scoring/judge/judge-prompt.ts'
import type { Rubric } from '../scoring/judge/rubric.ts'
import { createAskTwice, type Trace } from './ask-twice.ts'
import type { PaidRequestsOptions } from './paid-requests.ts'
import type { Waiter } from './wait-queue.ts'

export type JudgeResult =
  | { kind: 'judged'; judgements: ReadonlyMap<BuiltInScorer, Judgement | Unjudged>; trace: Trace }
  | { kind: 'failed'; reason: UnscoredReason; trace: Trace }

/** A call to be graded. */
export interface JudgeCase extends Waiter {
  /** One of the groups that {@link Judge.arrange} made. */
  rubrics: readonly Rubric[]
  material: JudgeMaterial
}

export interface Judge {
  /** Whether the judge says anything about a scorer. */
  covers(scorer: BuiltInScorer): boolean
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
    async judge({ projectId, lane, rubrics, material }, signal) {
      const startedMs = clock.now()
      const scorers = rubrics.map(({ scorer }) => scorer)
      const question = () => {
        const secrets = { marker: randomBytes(12).toString('hex'), check: randomBytes(8).toString('hex') }
        return {
          prompt: makeJudgePrompt(rubrics, material, secrets),
          read: (text: string) => readJudgeAnswer(text, rubrics, material, secrets.check),
        }
      }
      const answered = await asking.ask({ projectId, lane, scorers }, question, signal)
      const trace = asking.traceOf([answered], rubrics.length, startedMs)
      return answered.kind === 'read'
        ? { kind: 'judged', judgements: answered.value, trace }
        : { kind: 'failed', reason: answered.reason, trace }
    },
  }
}
