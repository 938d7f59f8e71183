import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'

/**
 * Counts series beyond the bounds of the roll-ups, and logs it once: names must not change from call to call.
 */
export function createOverflowCounter({
  log,
  metrics,
}: {
  log: Log
  metrics: Metrics
}): (of: 'calls' | 'scores' | 'tools' | 'users', count: number) => void {
  const counter = metrics.counter(
    'sluice_sink_rollup_overflow_total',
    'Series beyond the bound of a project and hour, counted together as "other" (docs/decisions/0006); tools beyond the 10,000 of a project, which raise no event',
    ['of'],
  )
  let warned = false
  return (of, count) => {
    counter.inc({ of }, count)
    // A project may have any number of users.
    if (count === 0 || warned || of === 'users') return
    warned = true
    log.warn(
      { of, series: count },
      'more models, agents or tools than are counted apart; see sluice_sink_rollup_overflow_total',
    )
  }
}
