import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { groupings, type Grouping } from '#services/scorer/scoring/judge/group-rubrics.ts'
import { judgeKinds } from '#services/scorer/scoring/judge/judge-kinds.ts'
import { evaluate, methods, type Row } from './evaluate.ts'
import { compareWithFloors, type FloorResult } from './floors.ts'
import { createJudgeCall } from './judge-call.ts'
import { costCells, costColumns, priceOf } from './judge-cost.ts'
import { listGaps } from './list-gaps.ts'
import type { Interval } from './measures.ts'
import { measureOrdinaryTraffic, ordinaryTableOf, readOrdinaryCalls } from './ordinary-traffic.ts'
import { halves, isIn, readSamples, type Half } from './samples.ts'

const here = import.meta.dirname
const ownData = path.join(here, 'datasets')
const usage = `node evals/run.ts [--data DIR] [--scorer NAME] [--method ${methods.join('|')}] [--half ${halves.join('|')}] [--grouping ${groupings.join('|')}] [--reports DIR]
reports go to evals/reports; those on other data than evals/datasets to a folder of its name there, which is not committed
judge and cascade ask SCORER_MODEL at OPENAI_BASE_URL with OPENAI_API_KEY, in the way of JUDGE_KIND; the table has what that costs`

/** Measures the scorers on labelled data. Prints a table and one line of JSON, and writes a report. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string', default: ownData },
      scorer: { type: 'string' },
      method: { type: 'string', default: 'detector' },
      half: { type: 'string', default: 'report' },
      grouping: { type: 'string', default: 'evidence' },
      reports: { type: 'string' },
    },
  })
  const half = oneOf(halves, '--half', values.half)
  const method = oneOf(methods, '--method', values.method)
  const scorer = values.scorer === undefined ? undefined : oneOf(builtInScorers, '--scorer', values.scorer)
  const asked = method === 'detector' ? undefined : makeJudge(oneOf(groupings, '--grouping', values.grouping))
  const all = readSamples(values.data)
  const rows = await evaluate(
    all.filter(({ id }) => isIn(half, id)),
    {
      only: scorer,
      method,
      ...(half === 'report' ? { trained: all.filter(({ id }) => isIn('train', id)) } : {}),
      ...(asked === undefined ? {} : { judge: asked.judge, price: priceOf(modelName(), process.env) }),
    },
  )
  const results = method === 'detector' ? compareWithFloors(rows) : []
  const text = [
    `# ${method === 'detector' ? 'Detectors' : `Method ${method} (${modelName()})`} on the ${half} half`,
    'Values with 95% bootstrap intervals. Made by `node evals/run.ts`; unsafe is a value of 4 or 5.\nWhat is left unscored counts as not flagged.',
    tableOf(
      rows.filter(({ language }) => language === undefined),
      method !== 'detector',
    ),
    ...byLanguageOf(rows),
    ...(results.length > 0 ? ['## Floors', floorsOf(results)] : []),
    ...gapsOf(rows, scorer),
    ...(method === 'detector' && scorer === undefined ? ordinaryTrafficOf(values.data, half) : []),
    ...(asked === undefined ? [] : [`The judge: ${JSON.stringify(asked.use)}`]),
  ].join('\n\n')
  console.log(text)
  const prefix = method === 'detector' ? 'detectors' : method
  const reports = values.reports ?? reportsOn(values.data)
  mkdirSync(reports, { recursive: true })
  const name = `${prefix}${scorer === undefined ? '' : `-${scorer}`}-${half}.md`
  writeFileSync(path.join(reports, name), `${text}\n`)
  console.log(
    JSON.stringify({ half, rows, floors: results, ...(asked === undefined ? {} : { judge: asked.use }) }),
  )
}

/** Committed reports are only about the committed data. */
function reportsOn(data: string): string {
  const given = path.resolve(data)
  const reports = path.join(here, 'reports')
  return given === ownData ? reports : path.join(reports, path.basename(given))
}

function byLanguageOf(rows: readonly Row[]): string[] {
  const found = rows.filter(({ language }) => language !== undefined)
  return found.length > 0 ? ['## By language', tableOf(found, false)] : []
}

function gapsOf(rows: readonly Row[], only: BuiltInScorer | undefined): string[] {
  const gaps = listGaps(rows, only).map(({ scorer, missing }) => `- ${scorer}: ${missing}`)
  return gaps.length > 0 ? ['## Not measured', gaps.join('\n')] : []
}

/** False alarms on calls as they are made every day; only some data have such calls. */
function ordinaryTrafficOf(data: string, half: Half): string[] {
  const directory = path.join(data, 'ordinary')
  if (!existsSync(directory)) return []
  const rows = measureOrdinaryTraffic(readOrdinaryCalls(directory, half))
  return ['## Ordinary traffic', ordinaryTableOf(rows)]
}

function makeJudge(grouping: Grouping) {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl } = process.env
  if (apiKey === undefined && baseUrl === undefined)
    throw new Error('no judge: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server that wants no key')
  const rubricsDirectory = path.join(here, 'rubrics')
  const kind = oneOf(judgeKinds, 'JUDGE_KIND', process.env['JUDGE_KIND'] ?? 'json')
  return createJudgeCall({ apiKey, baseUrl, model: modelName(), kind, rubricsDirectory, grouping })
}

function modelName(): string {
  return process.env['SCORER_MODEL'] ?? 'gpt-4o-mini'
}

function floorsOf(results: readonly FloorResult[]): string {
  const lines = results.map(({ scorer, set, measure, least, most, value, reached }) => [
    scorer,
    set,
    `${measure} ${least === undefined ? `≤ ${most}` : `≥ ${least}`}`,
    value === null ? '–' : value.toFixed(3),
    reached === null ? 'not measured' : reached ? 'reached' : '**not reached**',
  ])
  return [['scorer', 'set', 'floor', 'value', ''], ['---', '---', '---', '---', '---'], ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

function oneOf<T extends string>(known: readonly T[], option: string, given: string): T {
  const found = known.find((value) => value === given)
  if (found === undefined) throw new Error(`${option} ${given}: expected one of ${known.join(', ')}`)
  return found
}

function tableOf(rows: readonly Row[], hasCost: boolean): string {
  const header = [
    'scorer',
    'set',
    'method',
    'n',
    'pos.',
    'unscored',
    'precision',
    'recall',
    'F1',
    'recall @ 1% FP',
    'FP rate',
    'AUROC',
    ...(hasCost ? costColumns : []),
  ]
  const lines = rows.map((row) => [
    row.scorer,
    row.set,
    row.method,
    String(row.n),
    String(row.positives),
    String(row.unscored),
    ...[
      row.precision,
      row.recall,
      row.f1,
      row.recall_at_1_percent_fp,
      row.false_positive_rate,
      row.auroc,
    ].map(show),
    ...(hasCost ? costCells(row.cost_per_1000) : []),
  ])
  return [header, header.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function show(interval: Interval | null): string {
  if (interval === null) return '–'
  const { value, low, high } = interval
  return `${value.toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  console.error(usage)
  process.exit(2)
}
