import type { Answer, Item } from '../../api/call-api.ts'

export type RedTeamRun = Item<'GET /api/redteam-runs'>
export type RedTeamDiff = Answer<'GET /api/redteam-runs/{id}/diff'>
export type Attempt = Answer<'GET /api/redteam-runs/{id}/attempts'>['items'][number]
type Counted = NonNullable<RedTeamDiff['categories'][number]['after']>

export const statusColors: Readonly<Record<RedTeamRun['status'], string>> = {
  queued: 'gray',
  running: 'blue',
  scoring: 'blue',
  done: 'green',
  cancelled: 'gray',
  failed: 'red',
}

/** What is attacked, in a line. */
export function describeTarget({ target }: RedTeamRun): string {
  if (target.kind === 'chat' || target.kind === 'http') return target.url
  return target.kind === 'command' ? 'a command' : `recorded by ${target.format}`
}

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 })

/** The share of attacks that got through and its 95 % interval: few attempts say little. */
export function describeRate(counted: Counted | null): string {
  if (counted?.fail_rate == null) return '–'
  const { fail_rate: rate, fail_rate_low: low, fail_rate_high: high } = counted
  return low === null || high === null
    ? percent.format(rate)
    : `${percent.format(rate)} (${percent.format(low)} to ${percent.format(high)})`
}

export function isUnderWay({ status }: RedTeamRun): boolean {
  return ['queued', 'running', 'scoring'].includes(status)
}
