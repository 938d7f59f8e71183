import type { Answer } from '../../api/call-api.ts'
import { absent, formatCount, formatDuration, formatShare, nounOf } from '../../formats/format-number.ts'
import type { SearchTexts } from '../../formats/search-texts.ts'
import type { Health } from '../../app/theme.ts'
import type { CallTotal } from './read-stats.ts'

export type Status = Answer<'GET /api/status'>
type Receiver = Status['failing_receivers'][number]

/** One answer to "is anything wrong?". Its texts may hold names that others gave. */
export interface Sign {
  label: string
  health: Health
  value: string
  detail: string
  /** Where it is looked into. */
  to?: string
  search?: SearchTexts
}

interface Known {
  status: Status
  /** Of the range, and of the period before it; undefined: no calls. */
  total: CallTotal | undefined
  before: CallTotal | undefined
  /** Whether a scorer of the last minutes has a judge; null: no scorer was seen; undefined: not known. */
  hasJudge: boolean | null | undefined
  nowMs: number
}

const lateMs = 5 * 60_000
const shownReceivers = 3
/** A share of calls not read from which it is said in yellow. */
const unreadShare = 0.05
/** Unsafe calls from which a rise is said in yellow, and the factor that is one. */
const risen = { calls: 10, factor: 1.5 }

/** What may be wrong, in the order of its weight. */
export function signsOf(known: Known): Sign[] {
  const { status, total, before } = known
  return [
    findingSign(status),
    alertSign(status),
    unsafeSign(total, before),
    unreadSign(total, before),
    deliverySign(status),
    scoringSign(known),
  ]
}

function findingSign({ findings }: Status): Sign {
  const sum = (of: (each: Status['findings'][number]) => number) =>
    findings.reduce((all, each) => all + of(each), 0)
  const [open, fresh] = [sum((each) => each.open), sum((each) => each.last_day)]
  const isGrave = findings.some((each) => each.severity !== 'medium' && each.open > 0)
  return {
    label: 'Open findings',
    health: isGrave ? 'wrong' : open > 0 ? 'warning' : 'ok',
    value: formatCount(open),
    detail: `${formatCount(fresh)} new since yesterday`,
    to: '/findings',
  }
}

function alertSign({ firing_rules: rules }: Status): Sign {
  const names = rules.map(({ name }) => name).join(', ')
  return {
    label: 'Alerts',
    health: rules.some(({ status }) => status === 'alert') ? 'wrong' : rules.length > 0 ? 'warning' : 'ok',
    value: rules.length === 0 ? 'None' : formatCount(rules.length),
    detail: rules.length === 0 ? 'no rule fires' : names,
    to: '/alert-rules',
  }
}

function unsafeSign(total: CallTotal | undefined, before: CallTotal | undefined): Sign {
  const scored = (of: CallTotal | undefined) => (of === undefined ? 0 : of.safe + of.unsafe + of.unscored)
  const share = (of: CallTotal | undefined) => (scored(of) === 0 ? undefined : (of?.unsafe ?? 0) / scored(of))
  const [now, then] = [share(total), share(before)]
  const hasRisen =
    now !== undefined &&
    then !== undefined &&
    (total?.unsafe ?? 0) >= risen.calls &&
    now > then * risen.factor
  return {
    label: 'Unsafe share',
    health: hasRisen ? 'warning' : 'ok',
    value: formatShare(now, 1),
    detail: `${then === undefined ? 'no calls' : formatShare(then, 1)} in the period before`,
    to: '/requests',
    search: { label: 'unsafe' },
  }
}

function unreadSign(total: CallTotal | undefined, before: CallTotal | undefined): Sign {
  const read = (of: CallTotal | undefined) =>
    of === undefined ? 0 : of.no_finding + of.partly_read + of.not_read + of.unsafe
  const shareOf = (of: CallTotal | undefined) => formatShare(of?.not_read, read(of))
  const then = read(before) === 0 ? absent : shareOf(before)
  return {
    label: 'Not read',
    health: (total?.not_read ?? 0) > read(total) * unreadShare ? 'warning' : 'ok',
    value: shareOf(total),
    detail: `${formatShare(total?.partly_read, read(total))} partly, ${then} not read before`,
    to: '/requests',
    search: { verdict: 'not_read' },
  }
}

function deliverySign({ failing_receivers: receivers }: Status): Sign {
  const [worst] = receivers
  if (worst === undefined) return { label: 'Delivery', health: 'ok', value: 'Works', detail: 'nothing fails' }
  return {
    label: 'Delivery',
    health: 'wrong',
    value: `${formatCount(receivers.length)} ${receivers.length === 1 ? 'fails' : 'fail'}`,
    detail: `failed in a day: ${receivers.slice(0, shownReceivers).map(describeReceiver).join(', ')}`,
    to: `/settings/${worst.kind === 'webhook' ? 'webhooks' : 'destinations'}/${worst.id}/deliveries`,
  }
}

/** `slack 3 of 4 (disabled)` */
function describeReceiver({ kind, failed, deliveries, is_disabled: isDisabled }: Receiver): string {
  return `${kind} ${formatCount(failed)} of ${formatCount(deliveries)}${isDisabled ? ' (disabled)' : ''}`
}

function scoringSign({ status: { scoring }, hasJudge, nowMs }: Known): Sign {
  const label = 'Scoring'
  const { waiting, oldest_at: oldest } = scoring
  const judge = hasJudge === false ? 'no judge' : hasJudge === true ? 'with a judge' : ''
  if (oldest !== null) {
    const waitedMs = nowMs - Date.parse(oldest)
    return {
      label,
      health: waitedMs > lateMs ? 'wrong' : 'warning',
      value: `${formatDuration(waitedMs)} behind`,
      detail: `${formatCount(waiting)} ${nounOf(waiting, 'call')} wait`,
    }
  }
  if (hasJudge === null) return { label, health: 'wrong', value: 'Stopped', detail: 'no scorer was seen' }
  return { label, health: hasJudge === false ? 'warning' : 'ok', value: 'Up to date', detail: judge }
}

/** "Nothing needs attention", or what does. */
export function summaryOf(signs: readonly Sign[]): string {
  const bad = signs.filter(({ health }) => health !== 'ok').map(({ label }) => label.toLowerCase())
  return bad.length === 0 ? 'Nothing needs attention.' : `Needs attention: ${bad.join(', ')}.`
}
