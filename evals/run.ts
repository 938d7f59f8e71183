import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { evaluateDetectors, type Row } from './evaluate.ts'
import type { Interval } from './measures.ts'
import { halves, isIn, readSamples, type Half } from './samples.ts'

const here = import.meta.dirname
const usage = `node evals/run.ts [--data DIR] [--scorer NAME] [--method detector] [--half ${halves.join('|')}]`

/** Measures the scorers on labelled data: a table for people, one line of JSON, and a report beside the data. */
function main(): void {
  const { values } = parseArgs({
    options: {
      data: { type: 'string', default: path.join(here, 'datasets') },
      scorer: { type: 'string' },
      method: { type: 'string', default: 'detector' },
      half: { type: 'string', default: 'report' },
    },
  })
  if (values.method !== 'detector')
    throw new Error(`--method ${values.method}: this version measures "detector" only`)
  const half = oneOf(halves, '--half', values.half)
  const scorer = values.scorer === undefined ? undefined : oneOf(builtInScorers, '--scorer', values.scorer)
  const rows = evaluateDetectors(
    readSamples(values.data).filter(({ id }) => isIn(half, id)),
    { only: scorer },
  )
  const table = tableOf(rows)
  console.log(table)
  writeReport(half, scorer, table)
  console.log(JSON.stringify({ half, rows }))
}

function oneOf<T extends string>(known: readonly T[], option: string, given: string): T {
  const found = known.find((value) => value === given)
  if (found === undefined) throw new Error(`${option} ${given}: expected one of ${known.join(', ')}`)
  return found
}

function tableOf(rows: readonly Row[]): string {
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
    'FP rate',
    'AUROC',
    'recall @ 1% FP',
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
      row.false_positive_rate,
      row.auroc,
      row.recall_at_1_percent_fp,
    ].map(show),
  ])
  return [header, header.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function show(interval: Interval | null): string {
  if (interval === null) return '–'
  const { value, low, high } = interval
  return `${value.toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`
}

function writeReport(half: Half, scorer: BuiltInScorer | undefined, table: string): void {
  const directory = path.join(here, 'reports')
  mkdirSync(directory, { recursive: true })
  const name = `detectors${scorer === undefined ? '' : `-${scorer}`}-${half}.md`
  const text = `# Detectors on the ${half} half\n\nValues with 95% bootstrap intervals. Made by \`node evals/run.ts\`; unsafe is a value of 4 or 5.\nWhat the detectors leave unscored counts as not flagged.\n\n${table}\n`
  writeFileSync(path.join(directory, name), text)
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  console.error(usage)
  process.exit(2)
}
