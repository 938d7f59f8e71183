// The end of scripts/test: each failed test with its message, then the number of tests and the total time, so
// that the last lines of a long log say what to fix. Exit code 1 if anything failed, or if a run left no
// result.
const { existsSync, readFileSync } = require('node:fs')
const { relative } = require('node:path')
const { stripVTControlCharacters } = require('node:util')

const MESSAGE_LINES = 25

const [failedBefore, seconds, ...files] = process.argv.slice(2)
const results = files.map((file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined))
const sum = (key) => results.reduce((total, result) => total + (result?.[key] ?? 0), 0)

/** Prints the first lines of a failure. */
function show(file, name, message) {
  const lines = stripVTControlCharacters(message).trim().split('\n').slice(0, MESSAGE_LINES)
  console.log([`FAILED  ${relative('.', file)}: ${name}`, ...lines.map((line) => `    ${line}`)].join('\n'))
}

for (const file of results.flatMap((result) => result?.testResults ?? [])) {
  if (file.status !== 'failed') continue
  const failures = file.assertionResults.filter(({ status }) => status === 'failed')
  for (const { fullName, failureMessages } of failures) show(file.name, fullName, failureMessages.join('\n'))
  if (failures.length === 0) show(file.name, 'the whole file', file.message)
}

const failed = failedBefore !== '0' || results.some((result) => result?.success !== true)
const time = `${Math.floor(seconds / 60)} min ${seconds % 60} s`
const skipped = sum('numPendingTests') + sum('numTodoTests')
const counts = [
  `${sum('numPassedTests')} passed`,
  `${sum('numFailedTests')} failed`,
  `${skipped} skipped`,
].join(', ')
console.log(`${failed ? 'FAILED' : 'PASSED'}: ${sum('numTotalTests')} tests (${counts}) in ${time}`)
process.exitCode = failed ? 1 : 0
