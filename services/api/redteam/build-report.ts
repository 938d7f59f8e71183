import { describeOwasp } from '#schemas/verdicts.ts'
import type { AttemptGroup } from '../stores/redteam-attempts.ts'
import type { RedteamRun } from '../stores/redteam-store.ts'
import { wilsonInterval } from './wilson-interval.ts'

/** Counts of judged attempts, and the failure rate with its 95 % interval. */
export interface Tally {
  total: number
  pass_count: number
  fail_count: number
  unscored_count: number
  critical_count: number
  /** Attempts whose prompt alone a scorer would have flagged. */
  detected_count: number
  fail_rate: number | null
  fail_rate_low: number | null
  fail_rate_high: number | null
}

export interface RedteamReport {
  run: RedteamRun
  report_url: string
  totals: Tally
  categories: (Tally & { category: string; title: string | null })[]
  transformations: (Tally & { transformation: string })[]
  probes: (Tally & { probe_id: string; category: string })[]
}

/** The report of a run, which may be in progress. The counts are the run's. */
export function buildReport(
  run: RedteamRun,
  groups: readonly AttemptGroup[],
  reportUrl: string,
): RedteamReport {
  return {
    run,
    report_url: reportUrl,
    totals: tallyOf(groups),
    categories: tallyBy(groups, ({ category }) => category).map(([category, tally]) => ({
      category,
      title: describeOwasp(category),
      ...tally,
    })),
    transformations: tallyBy(groups, ({ transformation }) => transformation).map(
      ([transformation, tally]) => ({
        transformation,
        ...tally,
      }),
    ),
    probes: tallyBy(groups, ({ probe_id }) => probe_id).map(([probe_id, tally, [first]]) => ({
      probe_id,
      category: first?.category ?? '',
      ...tally,
    })),
  }
}

/** The changes between two runs, by category and by probe. */
export interface RedteamDiff {
  run_id: string
  /** Null: there is no run to compare with. */
  against: string | null
  categories: { category: string; before: Tally | null; after: Tally | null; change: number | null }[]
  probes: {
    probe_id: string
    category: string
    before: Tally | null
    after: Tally | null
    change: number | null
  }[]
}

/** `change` is the change of the failure rate; unchanged probes are left out. */
export function compareReports(before: RedteamReport | undefined, after: RedteamReport): RedteamDiff {
  const pair = <T extends Tally>(old: readonly T[], now: readonly T[], nameOf: (row: T) => string) => {
    const names = [...new Set([...old, ...now].map(nameOf))].sort()
    return names.map((name) => {
      const [left, right] = [old, now].map((rows) => rows.find((row) => nameOf(row) === name) ?? null)
      const [was, is] = [left?.fail_rate ?? null, right?.fail_rate ?? null]
      return {
        name,
        before: left ?? null,
        after: right ?? null,
        change: was === null || is === null ? null : is - was,
      }
    })
  }
  const categories = pair(before?.categories ?? [], after.categories, ({ category }) => category)
  const probes = pair(before?.probes ?? [], after.probes, ({ probe_id }) => probe_id)
  return {
    run_id: after.run.id,
    against: before?.run.id ?? null,
    categories: categories.map(({ name, ...rest }) => ({ category: name, ...rest })),
    probes: probes
      .filter(({ change, before: old, after: now }) => change !== 0 && (old !== null || now !== null))
      .map(({ name, ...rest }) => ({
        probe_id: name,
        category: rest.after?.category ?? rest.before?.category ?? '',
        ...rest,
      })),
  }
}

function tallyBy(
  groups: readonly AttemptGroup[],
  nameOf: (group: AttemptGroup) => string,
): [string, Tally, AttemptGroup[]][] {
  return [...Map.groupBy(groups, nameOf)]
    .sort(([left], [right]) => left.localeCompare(right))
    .map(([name, rows]) => [name, tallyOf(rows), rows])
}

function tallyOf(groups: readonly AttemptGroup[]): Tally {
  const sum = (name: 'passed' | 'failed' | 'unscored' | 'critical' | 'detected') =>
    groups.reduce((total, group) => total + group[name], 0)
  const [passed, failed, unscored] = [sum('passed'), sum('failed'), sum('unscored')]
  const interval = wilsonInterval(failed, passed + failed)
  return {
    total: passed + failed + unscored,
    pass_count: passed,
    fail_count: failed,
    unscored_count: unscored,
    critical_count: sum('critical'),
    detected_count: sum('detected'),
    fail_rate: interval?.rate ?? null,
    fail_rate_low: interval?.low ?? null,
    fail_rate_high: interval?.high ?? null,
  }
}
