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

/** Runs that still change by themselves. */
export function isUnderWay({ status }: ScoreRun): boolean {
  return ['queued', 'feeding', 'scoring', 'promoting'].includes(status)
}
