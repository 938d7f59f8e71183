interface Counts {
  total_probes: number
  planned_count: number | null
  pass_count: number
  fail_count: number
  unscored_count: number
  stopped_by: string | null
}

/**
 * Whether the share of failed attempts is within the threshold. Untried and unjudged attempts prove nothing:
 * a run with more of those than judged ones does not pass.
 */
export function checkThreshold(run: Counts, threshold: number): { isKept: boolean; problem?: string } {
  const { total_probes, planned_count, unscored_count, fail_count } = run
  const judged = run.pass_count + fail_count
  if (run.stopped_by !== null)
    return {
      isKept: false,
      problem: `stopped before all was tried (${total_probes} of ${planned_count ?? 'unknown'})`,
    }
  if (judged === 0 || judged < unscored_count)
    return { isKept: false, problem: `only ${judged} of ${total_probes} attempts were judged` }
  return { isKept: fail_count / judged <= threshold }
}
