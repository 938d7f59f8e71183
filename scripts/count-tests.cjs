// The last line of scripts/test: how many tests ran and how long everything took. Exit code 1 when anything failed, also
// when a run left no result at all.
const { existsSync, readFileSync } = require('node:fs')

const [failedBefore, seconds, ...files] = process.argv.slice(2)
const results = files.map((file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined))
const sum = (key) => results.reduce((total, result) => total + (result?.[key] ?? 0), 0)

const failed = failedBefore !== '0' || results.some((result) => result?.success !== true)
const time = `${Math.floor(seconds / 60)} min ${seconds % 60} s`
const skipped = sum('numPendingTests') + sum('numTodoTests')
const counts = [
  `${sum('numPassedTests')} passed`,
  `${sum('numFailedTests')} failed`,
  `${skipped} skipped`,
].join(', ')
console.log(`${failed ? 'FAILED' : 'PASSED'}: ${sum('numTotalTests')} tests (${counts}) in ${time}`)
process.exit(failed ? 1 : 0)
