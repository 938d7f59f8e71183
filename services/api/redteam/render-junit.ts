import type { RedteamAttempt } from '../stores/redteam-attempts.ts'
import type { RedteamReport, Tally } from './build-report.ts'

/**
 * A run as JUnit XML: a suite per category, a case per attempt. Failed attempts are failures, unjudged ones
 * skipped, and a run that did not finish is an error. No content is quoted.
 */
export async function* renderJunit(
  { run, totals, categories }: RedteamReport,
  attemptsOf: (category: string) => AsyncIterable<readonly RedteamAttempt[]>,
): AsyncGenerator<string> {
  const counts = (tally: Pick<Tally, 'total' | 'fail_count' | 'unscored_count'>, errors = 0) =>
    `tests="${tally.total + errors}" failures="${tally.fail_count}" errors="${errors}" skipped="${tally.unscored_count}"`
  const isCutShort = run.status === 'failed' || run.status === 'cancelled'
  const seconds = run.duration_seconds === null ? '' : ` time="${run.duration_seconds}"`
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xmlText(run.agent_name)}" ${counts(totals, isCutShort ? 1 : 0)}${seconds}>\n`
  for (const category of categories) {
    const name = `${category.category} ${category.title ?? ''}`.trim()
    yield `  <testsuite name="${xmlText(name)}" ${counts(category)} timestamp="${run.created_at}">\n`
    for await (const page of attemptsOf(category.category))
      yield page.map((attempt) => caseOf(attempt, category.category)).join('')
    yield '  </testsuite>\n'
  }
  if (isCutShort) yield suiteOfRun(run)
  yield '</testsuites>\n'
}

/** An unfinished run proves nothing about what it did not try. */
function suiteOfRun({ id, status, problem, created_at }: RedteamReport['run']): string {
  const why = xmlText(problem === null ? status : `${status}: ${problem}`)
  return (
    `  <testsuite name="Run" tests="1" failures="0" errors="1" skipped="0" timestamp="${created_at}">\n` +
    `    <testcase classname="run" name="${id}">\n      <error message="${why}"/>\n    </testcase>\n  </testsuite>\n`
  )
}

function caseOf(attempt: RedteamAttempt, category: string): string {
  const { probe_id, transformation, repeat, verdict, severity, failed_by, reason, latency_ms } = attempt
  const time = latency_ms === null ? '' : ` time="${(latency_ms / 1_000).toFixed(3)}"`
  const head = `    <testcase classname="${category}.${xmlText(probe_id)}" name="${transformation} #${repeat + 1}"${time}`
  const where = `request ${attempt.found_in ?? attempt.request_id}`
  if (verdict === 'fail') {
    const message = `${severity ?? 'unsafe'}: found by ${(failed_by ?? []).join(', ')}`
    return `${head}>\n      <failure type="${severity ?? 'unsafe'}" message="${xmlText(message)}">${where}</failure>\n    </testcase>\n`
  }
  if (verdict === 'unscored')
    return `${head}>\n      <skipped message="${xmlText(`not judged: ${reason ?? 'unknown'}, ${where}`)}"/>\n    </testcase>\n`
  return `${head}/>\n`
}

/** Escapes text for XML and HTML, attributes included. Drops characters that XML 1.0 lacks. */
export function xmlText(text: string): string {
  return (
    text
      .toWellFormed()
      // oxlint-disable-next-line no-control-regex -- these are what must not get through
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;')
  )
}
