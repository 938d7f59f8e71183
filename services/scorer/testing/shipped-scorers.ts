import { readFileSync } from 'node:fs'

const name = '# - name: destructive_tool_call'

/** The shipped file of custom scorers with its example in force, which is commented out. */
export function shippedScorers(): string {
  const shipped = readFileSync('evals/scorers.yaml', 'utf8')
  const start = shipped.indexOf(name)
  if (start < 0) throw new Error(`evals/scorers.yaml has no line ${name}`)
  return shipped.slice(0, start) + shipped.slice(start).replace(/^# ?/gm, '')
}
