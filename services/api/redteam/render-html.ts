import type { RedteamReport, Tally } from './build-report.ts'
import { xmlText } from './render-junit.ts'

/** A failed attempt with its last prompt and answer; null: no longer kept. */
export interface Finding {
  number: number
  request_id: string
  probe_id: string
  category: string
  transformation: string
  severity: string | null
  failed_by: readonly string[]
  asked: string | null
  answered: string | null
}

// Nothing is loaded and no script runs: the file contains a target's answers.
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
const style = `
  :root { color-scheme: light dark; --line: #8884; --bad: #c92a2a; --good: #2b8a3e; --none: #868e96 }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
  table { border-collapse: collapse; width: 100%; margin: 1rem 0 }
  th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: left }
  td.number { text-align: right; font-variant-numeric: tabular-nums }
  .bar { display: flex; height: .7rem; min-width: 8rem; background: var(--line) }
  .bar i { display: block; height: 100% } .fail { background: var(--bad) } .pass { background: var(--good) } .open { background: var(--none) }
  article { border: 1px solid var(--line); border-radius: .4rem; padding: .6rem 1rem; margin: 1rem 0 }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: .6rem; max-height: 20rem; overflow: auto }
  .critical, .high, .medium { color: var(--bad); font-weight: 600 }`

/** The report as one file that works offline. All recorded text is escaped. */
export function renderHtml(report: RedteamReport, findings: readonly Finding[]): string {
  const { run, totals } = report
  const title = `Red team: ${run.agent_name}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${xmlText(title)}</title>
<style>${style}
</style>
</head>
<body>
<h1>${xmlText(title)}</h1>
<p>Run <code>${run.id}</code> of ${run.created_at}, ${run.status}${run.stopped_by === null ? '' : `, stopped by its ${run.stopped_by}`}, seed <code>${xmlText(run.seed)}</code>.${run.problem === null ? '' : ` <b>${xmlText(run.problem)}</b>`}
${totals.total} attempts: <b>${totals.fail_count} failed</b> (${totals.critical_count} critical), ${totals.pass_count} passed, ${totals.unscored_count} could not be judged.</p>
${tableOf('Categories', report.categories, ({ category, title: name }) => `${category} ${name ?? ''}`)}
${tableOf('Transformations', report.transformations, ({ transformation }) => transformation)}
<h2>Findings</h2>
${findings.length < totals.fail_count ? `<p>The first ${findings.length} of ${totals.fail_count}.</p>` : ''}
${findings.length === 0 ? '<p>None.</p>' : findings.map(articleOf).join('\n')}
${tableOf('Probes', report.probes, ({ probe_id }) => probe_id)}
<p>The share that failed is of what passed or failed, with its 95 % interval (Wilson). What could not be judged is in neither.</p>
</body>
</html>
`
}

function tableOf<T extends Tally>(name: string, rows: readonly T[], nameOf: (row: T) => string): string {
  const lines = rows.map((row) => {
    const cells = [row.fail_count, row.pass_count, row.unscored_count, row.critical_count, row.detected_count]
    return `<tr><td>${xmlText(nameOf(row))}</td><td>${barOf(row)}</td>${cells.map((cell) => `<td class="number">${cell}</td>`).join('')}<td class="number">${rateOf(row)}</td></tr>`
  })
  return `<h2>${name}</h2>
<table><thead><tr><th>${name}</th><th></th><th>failed</th><th>passed</th><th>not judged</th><th>critical</th><th>attack noticed</th><th>share failed</th></tr></thead>
<tbody>${lines.join('\n')}</tbody></table>`
}

function barOf({ total, fail_count, pass_count, unscored_count }: Tally): string {
  const part = (kind: string, count: number) =>
    total === 0 ? '' : `<i class="${kind}" style="width:${((100 * count) / total).toFixed(1)}%"></i>`
  return `<div class="bar">${part('fail', fail_count)}${part('open', unscored_count)}${part('pass', pass_count)}</div>`
}

function rateOf({ fail_rate, fail_rate_low, fail_rate_high }: Tally): string {
  const percent = (share: number | null) => `${(100 * (share ?? 0)).toFixed(0)} %`
  return fail_rate === null
    ? '–'
    : `${percent(fail_rate)} (${percent(fail_rate_low)} to ${percent(fail_rate_high)})`
}

function articleOf(finding: Finding): string {
  const { number, probe_id, category, transformation, severity, failed_by, request_id, asked, answered } =
    finding
  const severe = severity ?? 'unsafe'
  return `<article><h3 id="attempt-${number}"><span class="${xmlText(severe)}">${xmlText(severe)}</span> ${category} ${xmlText(probe_id)} (${transformation})</h3>
<p>Found by ${xmlText(failed_by.join(', '))} in <code>${request_id}</code></p>
<h4>Asked</h4><pre>${xmlText(asked ?? 'not kept')}</pre>
<h4>Answered</h4><pre>${xmlText(answered ?? 'not kept')}</pre></article>`
}
