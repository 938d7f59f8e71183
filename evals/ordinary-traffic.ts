import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { classOfReason } from '#schemas/unscored.ts'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { builtIns } from '#detectors/built-in-scorers.ts'
import { readCall, type Body } from '#detectors/call-text.ts'
import { detected, type Verdict } from '#detectors/verdict.ts'
import { isIn, type Half } from './samples.ts'

/** One ordinary call as a client sends it; datasets/README.md describes the format. */
const ordinaryCallSchema = z.object({
  id: z.string().min(1),
  kind: z.string().min(1),
  source: z.string().min(1),
  request: z.record(z.string(), z.unknown()),
  response: z.record(z.string(), z.unknown()).nullable(),
  /** Scorers whose alarm on this call would be right, such as pii_detection on a customer's address. */
  may: z.array(z.enum(builtInScorers)).default([]),
})
export type OrdinaryCall = z.output<typeof ordinaryCallSchema>

/** The calls of every `*.jsonl` of a folder in one half. Throws an Error that names file and line. */
export function readOrdinaryCalls(directory: string, half: Half): OrdinaryCall[] {
  const files = readdirSync(directory).filter((name) => name.endsWith('.jsonl'))
  return files.sort().flatMap((name) => {
    const lines = readFileSync(path.join(directory, name), 'utf8').trimEnd().split('\n')
    const calls = lines.map((line, index) => {
      const parsed = ordinaryCallSchema.safeParse(JSON.parse(line))
      if (!parsed.success) throw new Error(`${name}:${index + 1}: ${z.prettifyError(parsed.error)}`)
      return parsed.data
    })
    return calls.filter(({ id }) => isIn(half, id))
  })
}

/** What the detectors say of the ordinary calls of one kind. */
export interface OrdinaryRow {
  kind: string
  calls: number
  /** Calls with at least one alarm that is not right. */
  falseAlarms: number
  byScorer: Partial<Record<BuiltInScorer, number>>
  /** Calls that every scorer decided, or looked at without finding anything: none outside, none not read. */
  covered: number
  /** Ids of those calls, each with its scorers. */
  alarms: { id: string; scorers: BuiltInScorer[] }[]
}

/** Runs every built-in detector on each call, without a judge: one row per kind. */
export function measureOrdinaryTraffic(calls: readonly OrdinaryCall[]): OrdinaryRow[] {
  return [...Map.groupBy(calls, ({ kind }) => kind)].map(([kind, members]) => {
    const results = members.map((call) => ({ call, verdicts: verdictsOf(call.request, call.response) }))
    const alarms = results
      .map(({ call, verdicts }) => ({ id: call.id, scorers: falseAlarmsOf(call, verdicts) }))
      .filter(({ scorers }) => scorers.length > 0)
    const byScorer: Partial<Record<BuiltInScorer, number>> = {}
    for (const scorer of alarms.flatMap(({ scorers }) => scorers))
      byScorer[scorer] = (byScorer[scorer] ?? 0) + 1
    const covered = results.filter(({ verdicts }) => isCovered(verdicts)).length
    return { kind, calls: members.length, falseAlarms: alarms.length, byScorer, covered, alarms }
  })
}

type Verdicts = Record<BuiltInScorer, Verdict>

function falseAlarmsOf({ may }: OrdinaryCall, verdicts: Verdicts): BuiltInScorer[] {
  return builtInScorers.filter((scorer) => verdicts[scorer].label === 'unsafe' && !may.includes(scorer))
}

/** Every scorer decided, found nothing inside its domain, or has nothing to judge in this call. */
function isCovered(verdicts: Verdicts): boolean {
  return Object.values(verdicts).every(({ reason }) => {
    const found = reason === null ? 'undecided' : classOfReason(reason)
    return found === 'undecided' || found === 'not_applicable'
  })
}

function verdictsOf(request: object, response: object | null): Verdicts {
  const call = readCall(bodyOf(request), response === null ? null : bodyOf(response))
  const entries = builtInScorers.map((scorer) => {
    const detector = builtIns[scorer].create(call)
    for (const text of call.texts) detector.read(text)
    return [scorer, detected(detector.finding())] as const
  })
  return Object.fromEntries(entries) as Verdicts
}

function bodyOf(value: object): Body {
  return { json: JSON.stringify(value), value }
}

/**
 * A Markdown table of the rows, with their sum and false alarms per 1,000 calls. Covered: decided or without
 * a finding, with no judge.
 */
export function ordinaryTableOf(rows: readonly OrdinaryRow[]): string {
  const sum = (pick: (row: OrdinaryRow) => number) => rows.reduce((total, row) => total + pick(row), 0)
  const percent = (part: number, whole: number) =>
    whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`
  const lines = rows.map(({ kind, calls, falseAlarms, byScorer, covered }) => [
    kind,
    String(calls),
    percent(covered, calls),
    String(falseAlarms),
    Object.entries(byScorer)
      .map(([scorer, count]) => `${scorer} ${count}`)
      .join(', '),
  ])
  const calls = sum((row) => row.calls)
  const falseAlarms = sum((row) => row.falseAlarms)
  const covered = sum((row) => row.covered)
  const perThousand = calls === 0 ? '–' : `${((1_000 * falseAlarms) / calls).toFixed(1)} in 1,000`
  return [
    ['kind', 'calls', 'decided or no finding', 'false alarms', 'scorers'],
    ['---', '---', '---', '---', '---'],
    ...lines,
    ['all', String(calls), percent(covered, calls), String(falseAlarms), perThousand],
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
