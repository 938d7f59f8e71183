import { scorersOfGuard } from '../scoring/judge/guard-categories.ts'
import { readGuardReply } from '../scoring/judge/guard-answer.ts'
import {
  judgeByGuard,
  rubricsForGuard,
  sidesToAsk,
  type GuardSaid,
} from '../scoring/judge/guard-judgement.ts'
import { makeGuardPrompt } from '../scoring/judge/guard-prompt.ts'
import type { GuardKind } from '../scoring/judge/judge-kinds.ts'
import type { Side } from '../scoring/judge/rubric.ts'
import { createAskTwice, type Answered } from './ask-twice.ts'
import type { Judge } from './judge.ts'
import type { PaidRequestsOptions } from './paid-requests.ts'

/** Has a guard model judge calls by its own policy: one request for each side, for all its scorers. */
export function createGuardJudge(kind: GuardKind, options: PaidRequestsOptions): Judge {
  const { clock } = options
  const covered = scorersOfGuard(kind)
  const asking = createAskTwice(options)
  return {
    covers: (scorer) => scorer !== 'criterion' && covered.includes(scorer),
    arrange(rubrics) {
      const applied = rubricsForGuard(kind, rubrics)
      return applied.length === 0 ? [] : [applied]
    },
    stop: () => asking.stop(),
    async judge({ projectId, lane, rubrics, material }, signal) {
      const startedMs = clock.now()
      const said = new Map<Side, GuardSaid>()
      const answers: Answered<GuardSaid>[] = []
      // One after the other: a guard that is away is not asked twice.
      for (const side of sidesToAsk(rubrics, material)) {
        const scorers = rubrics.filter(({ looksAt }) => looksAt.includes(side)).map(({ scorer }) => scorer)
        const prompt = makeGuardPrompt(side, material)
        const question = () => ({ prompt, read: (text: string) => readGuardReply(kind, side, prompt, text) })
        const answered = await asking.ask({ projectId, lane, scorers }, question, signal)
        answers.push(answered)
        said.set(side, answered.kind === 'read' ? answered.value : { failed: answered.reason })
        if (answered.kind === 'failed' && answered.reason !== 'judge_answer_invalid') break
      }
      const trace = asking.traceOf(answers, rubrics.length, startedMs)
      const [first] = said.values()
      return said.size === 1 && first !== undefined && 'failed' in first
        ? { kind: 'failed', reason: first.failed, trace }
        : { kind: 'judged', judgements: judgeByGuard(kind, rubrics, material, said), trace }
    },
  }
}
