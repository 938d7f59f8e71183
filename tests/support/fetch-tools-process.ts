import { findBrowser } from './find-browser.ts'
import { prometheusTool } from './prometheus-tools.ts'

/**
 * Fetches what the tests need besides packages, one after the other: two tests that fetch at once would meet at the package manager's lock.
 * What cannot be fetched here is said here, and by the test that needs it.
 */
const problems: string[] = []
for (const fetchTool of [() => prometheusTool('promtool'), findBrowser]) {
  try {
    console.log(`found ${await fetchTool()}`)
  } catch (error) {
    problems.push((error as Error).message)
  }
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
