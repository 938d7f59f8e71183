import type { ClientBase } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import { countLabelledVerdicts } from '../steps/count-minutes.ts'
import { countReadings, countVerdicts } from '../steps/count-scores.ts'
import { addTo, createTally, type RollupRow } from '../steps/tally-rollups.ts'
import { rederiveVerdicts } from '../stores/derive-store.ts'
import { exchangeRuns, nextScoredPlaces, type ExchangedScore } from '../stores/promotion-store.ts'
import { moveBetweenFindings } from '../stores/finding-promotion.ts'
import { lockCalls, type CountedCall } from '../stores/lock-calls.ts'
import type { RollupStore } from '../stores/rollup-store.ts'
import {
  callRollups,
  changesLane,
  labelRollups,
  scoreRollups,
  userRollups,
  verdictRollups,
} from '../stores/rollup-tables.ts'
import { advanceProject, changeRun, nextProject, type ScoreRun } from '../stores/run-store.ts'

const callsAtOnce = 200

export interface PromotionDependencies {
  rollups: RollupStore
  clock: Clock
}

/**
 * Promotes a run's next calls, in the caller's transaction: its scores become the live ones, the replaced
 * ones become the run's (docs/decisions/0024), findings, verdicts and roll-ups follow. Resolves to whether
 * there was work.
 */
export async function promoteCalls(
  client: ClientBase,
  run: ScoreRun,
  { rollups, clock }: PromotionDependencies,
): Promise<boolean> {
  const project = run.cursor_project ?? (await nextProject(client, run, null))
  const places = project === undefined ? [] : await nextScoredPlaces(client, run, project, callsAtOnce)
  const last = places.at(-1)
  if (project !== undefined && last !== undefined) {
    // Waits for erasures, which lock calls: none of these may be left afterwards, but later ones follow.
    const calls = await lockCalls(client, project, places)
    if (calls.length > 0) await exchange(client, run, project, calls, { rollups, clock })
    await changeRun(client, run.id, {
      cursor_project: project,
      cursor_at: last.created_at,
      cursor_id: last.id,
    })
    return true
  }
  const done = { status: 'promoted', finished_at: new Date(clock.now()) }
  await advanceProject(client, run, project, { done })
  return true
}

async function exchange(
  client: ClientBase,
  run: ScoreRun,
  projectUuid: string,
  calls: readonly CountedCall[],
  { rollups, clock }: PromotionDependencies,
): Promise<void> {
  const liveRunUuid = idToUuid(liveRunId(idFromUuid('project', projectUuid)))
  const runs = { projectUuid, liveRunUuid, runUuid: run.id }
  const exchanged = await exchangeRuns(client, runs, calls)
  await moveBetweenFindings(client, { ...runs, nowMs: clock.now() }, { exchanged, calls })
  const changes = await rederiveVerdicts(client, runs, calls)
  const verdicts = countVerdicts(changes)
  await rollups.add(client, callRollups, changesLane, verdicts.calls)
  await rollups.add(client, verdictRollups, changesLane, countReadings(changes))
  const { labels } = countLabelledVerdicts(changes, await rollups.readLabeller(client))
  await rollups.add(client, labelRollups, changesLane, labels)
  await rollups.add(client, userRollups, changesLane, verdicts.users)
  const callOf = new Map(calls.map((call) => [call.id, call]))
  await rollups.add(client, scoreRollups, changesLane, countExchange(runs, exchanged, callOf))
}

/** Each exchanged score moves from the count of its old run to that of its new one. */
function countExchange(
  { projectUuid, liveRunUuid, runUuid }: { projectUuid: string; liveRunUuid: string; runUuid: string },
  exchanged: readonly ExchangedScore[],
  callOf: ReadonlyMap<string, CountedCall>,
): RollupRow[] {
  const tally = createTally()
  for (const { request_id, run_id, scorer_name, score_label, severity, score_value } of exchanged) {
    const call = callOf.get(request_id)
    if (call === undefined) continue
    const { source } = call
    const other = run_id === liveRunUuid ? runUuid : liveRunUuid
    for (const [run, by] of [
      [run_id, 1],
      [other, -1],
    ] as const) {
      const dimensions = { run_id: run, source, scorer_name, score_label, severity }
      const sums = tally.sumsOf(projectUuid, call.created_at.getTime(), dimensions)
      addTo(sums, 'scores', by)
      if (score_value === null) continue
      addTo(sums, 'valued', by)
      addTo(sums, 'value_micros', by * Math.floor(score_value * 1e6 + 0.5))
    }
  }
  return tally.rows()
}
