import type { Answer, Item } from '../../api/call-api.ts'

export type ScoreRun = Item<'GET /api/score-runs'>
export type RunDiff = Answer<'GET /api/score-runs/{id}/diff'>

export const runColors: Readonly<Record<ScoreRun['status'], string>> = {
  queued: 'gray',
  feeding: 'blue',
  scoring: 'blue',
  promoting: 'blue',
  done: 'green',
  promoted: 'green',
  cancelled: 'gray',
  failed: 'red',
}

/** Runs that are still in progress. */
export function isUnderWay({ status }: Pick<ScoreRun, 'status'>): boolean {
  return ['queued', 'feeding', 'scoring', 'promoting'].includes(status)
}

/**
 * The earlier and the later side of a diff. Promotion swaps the verdicts (docs/decisions/0024): the run then
 * has the former live ones, and its own are live.
 */
export function inOrder<B, A>(
  { status }: Pick<ScoreRun, 'status'>,
  { before, after }: { before: B; after: A },
): [earlier: A | B, later: A | B] {
  return status === 'promoted' ? [after, before] : [before, after]
}

/** Why a run's differences are incomplete or not available; undefined: they are complete. */
export function describeState(run: Pick<ScoreRun, 'status'>): string | undefined {
  if (run.status === 'promoting')
    return 'The run is being promoted: for some calls the former verdict is shown as its own'
  if (run.status === 'promoted')
    return 'What it could not judge replaced no verdict; such a call counts as unscored before'
  return isUnderWay(run) ? 'Not every call is scored yet' : undefined
}
