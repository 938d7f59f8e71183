import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

/**
 * The tables of docs/capacity.md come from docs/benchmarks/*.jsonl. `UPDATE_DOCS=1` takes the newest lines.
 * Otherwise the page is compared with the lines whose commits it names: running a benchmark changes no page.
 */
const page = join(import.meta.dirname, 'capacity.md')
const benches = ['pipeline', 'gateway', 'scorer', 'notifier'] as const
type Bench = (typeof benches)[number]

interface Line {
  figures: Record<string, number>
  commit: string
}

/** Calls a second of the columns of the model. */
const rates = [1, 100, 10_000]
/** The part of a core that a process may use. */
const busy = 0.6
const weekS = 604_800
const monthS = 2_592_000
const quarterS = 7_776_000

function readLines(isNamed: (bench: Bench, line: Line) => boolean): Record<Bench, Line> {
  const found = benches.map((bench) => {
    const text = readFileSync(join(import.meta.dirname, 'benchmarks', `${bench}.jsonl`), 'utf8')
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    return [bench, lines.findLast((line) => isNamed(bench, line))]
  })
  return Object.fromEntries(found) as Record<Bench, Line>
}

/** Two significant digits, with thousands separators. */
function rounded(value: number): string {
  if (!Number.isFinite(value)) throw new Error('a figure is missing')
  return Number(value.toPrecision(2)).toLocaleString('en-US', { maximumSignificantDigits: 2 })
}

function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const parts = ['gateway', 'api', 'kafka', 'sink', 'scorer', 'notifier', 'postgres', 'registry']

function measuredTable({ pipeline, gateway, scorer, notifier }: Record<Bench, Line>): string {
  const of = ({ figures }: Line, name: string) => rounded(figures[name] ?? NaN)
  const cpu = parts.map((part) => `${part} ${of(pipeline, `cpu_s_${part}`)}`).join(', ')
  const memory = parts.map((part) => `${part} ${of(pipeline, `mb_${part}`)}`).join(', ')
  return tableOf(
    ['', 'figure', 'of commit'],
    [
      ['all of it on one machine of 2 cores, calls/s', of(pipeline, 'calls_per_s'), pipeline.commit],
      ['CPU seconds a million calls, all parts', of(pipeline, 'cpu_s_per_million_calls'), pipeline.commit],
      ['… by part', cpu, pipeline.commit],
      ['CPU ms a second while nobody calls', of(pipeline, 'idle_cpu_ms_per_s'), pipeline.commit],
      [
        'answer to readable score at half of that rate, ms',
        `p50 ${of(pipeline, 'answer_to_score_p50_ms')}, p99 ${of(pipeline, 'answer_to_score_p99_ms')}`,
        pipeline.commit,
      ],
      ['resident MB', memory, pipeline.commit],
      [
        'bytes a call',
        `Kafka ${of(pipeline, 'kafka_bytes_per_call')} (one copy), Postgres ${of(pipeline, 'postgres_bytes_per_call')}`,
        pipeline.commit,
      ],
      ['deliveries a call', of(pipeline, 'deliveries_per_call'), pipeline.commit],
      [
        'gateway alone, CPU µs',
        `a call ${of(gateway, 'cpu_us_c64')}, a stream ${of(gateway, 'cpu_us_streams')}`,
        gateway.commit,
      ],
      ["scorer, CPU ms a job, one judge's call included", of(scorer, 'cpu_ms_per_job'), scorer.commit],
      ['detectors, CPU µs a kB of text, all ten', of(scorer, 'detector_us_per_kb'), scorer.commit],
      [
        'judge, US$ a million calls',
        `always ${of(scorer, 'judge_usd_per_million_always')}, uncertain ${of(scorer, 'judge_usd_per_million_uncertain')}`,
        scorer.commit,
      ],
      ['notifier, CPU µs a delivery over HTTPS', of(notifier, 'cpu_us_per_delivery_https'), notifier.commit],
    ],
  )
}

function modelTable({ pipeline, scorer }: Record<Bench, Line>): string {
  const figure = ({ figures }: Line, name: string) => figures[name] ?? NaN
  const cores = (part: string) => (n: number) => (n * figure(pipeline, `cpu_s_${part}`)) / 1e6 / busy
  const judged = (n: number) => (n * figure(scorer, 'cpu_ms_per_job')) / 1_000 / busy
  const kept = (n: number) => (n * figure(pipeline, 'kafka_bytes_per_call') * weekS * 3) / 1e9
  const cost = (mode: string) => (n: number) =>
    (n * monthS * figure(scorer, `judge_usd_per_million_${mode}`)) / 1e6
  const rows: [string, string, (n: number) => number][] = [
    ['million calls in 30 days', 'n × 2.592', (n) => (n * monthS) / 1e6],
    ...['gateway', 'api', 'sink'].map((part): [string, string, (n: number) => number] => [
      `${part}, cores`,
      'n × its CPU ÷ 0.6',
      cores(part),
    ]),
    ['scorers, cores, detectors alone', 'n × its CPU ÷ 0.6', cores('scorer')],
    ['scorers, cores, judge always', 'n × CPU a job ÷ 0.6', judged],
    ['notifier, cores', 'n × its CPU ÷ 0.6, at the deliveries above', cores('notifier')],
    ['Postgres, cores', 'n × its CPU ÷ 0.6', cores('postgres')],
    ['Kafka, cores of one broker alone', 'n × its CPU ÷ 0.6; three share it and copy', cores('kafka')],
    [
      'partitions of `safety_score_jobs`',
      '≥ scorer cores; 6 as they come',
      (n) => Math.max(6, Math.ceil(judged(n))),
    ],
    ['Kafka, GB kept', 'n × bytes × 604,800 s × 3 copies', kept],
    ['brokers', '3; then by disk: GB ÷ 4,000', (n) => Math.max(3, Math.ceil(kept(n) / 4_000))],
    [
      'Postgres, GB for 90 days',
      'n × bytes × 7,776,000 s',
      (n) => (n * figure(pipeline, 'postgres_bytes_per_call') * quarterS) / 1e9,
    ],
    ['judge, US$ in 30 days, `always`', 'calls × US$ a call', cost('always')],
    ['judge, `uncertain`', 'calls × US$ a call', cost('uncertain')],
  ]
  return tableOf(
    ['', 'formula', ...rates.map((rate) => `${rounded(rate)} calls/s`)],
    rows.map(([name, formula, of]) => [name, formula, ...rates.map((rate) => rounded(of(rate)))]),
  )
}

/** The page with current tables. */
function withTables(text: string, lines: Record<Bench, Line>): string {
  const tables: Record<string, string> = { measured: measuredTable(lines), model: modelTable(lines) }
  return text.replace(
    /(<!-- (measured|model) -->\n)[^]*?(<!-- end -->)/g,
    (_all, begin: string, name: string, end: string) => `${begin}\n${tables[name] ?? ''}\n\n${end}`,
  )
}

test('the tables of docs/capacity.md are what the benchmarks gave', () => {
  const text = readFileSync(page, 'utf8')
  if (process.env['UPDATE_DOCS'] === '1')
    writeFileSync(
      page,
      withTables(
        text,
        readLines(() => true),
      ),
    )
  const now = readFileSync(page, 'utf8')
  const commits = new Set([...now.matchAll(/\| ([0-9a-f]{7,}) \|$/gm)].map(([, commit]) => commit))
  expect(now).toBe(
    withTables(
      now,
      readLines((_bench, { commit }) => commits.has(commit)),
    ),
  )
  expect(commits.size).toBeGreaterThan(0)
})
