import type { BuiltInScorer } from '#schemas/verdicts.ts'
import type { Judge } from './judge.ts'

/** The judges of one process: those of single scorers, and the one for all others. */
export interface JudgeRoutes {
  byScorer: ReadonlyMap<BuiltInScorer, Judge>
  /** Null: the other scorers have no judge. */
  others: Judge | null
}

/** One judge that passes each scorer to its own. Judges share nothing: one that is away stops no other. */
export function routeJudges({ byScorer, others }: JudgeRoutes): Judge {
  const judgeOf = (scorer: BuiltInScorer | 'criterion') =>
    (scorer === 'criterion' ? undefined : byScorer.get(scorer)) ?? others
  const all = new Set([...byScorer.values(), ...(others === null ? [] : [others])])
  return {
    covers: (scorer) => judgeOf(scorer)?.covers(scorer) === true,
    arrange: (rubrics, material, grouping) =>
      [...Map.groupBy(rubrics, ({ scorer }) => judgeOf(scorer))].flatMap(
        ([judge, own]) => judge?.arrange(own, material, grouping) ?? [],
      ),
    judge(given, signal) {
      const [first] = given.rubrics
      const judge = first === undefined ? others : judgeOf(first.scorer)
      if (judge === null) throw new Error('a case of scorers that have no judge')
      return judge.judge(given, signal)
    },
    stop: () => all.forEach((judge) => judge.stop()),
  }
}
