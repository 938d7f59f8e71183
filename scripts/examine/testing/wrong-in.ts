import { expect } from '@jest/globals'
import type { Finding } from '../finding.ts'

/** Problems as `check: what`. Asserts that each has a remedy. */
export function wrongIn(findings: readonly Finding[]): string[] {
  const wrong = findings.filter(({ state }) => state === 'problem')
  expect(wrong.every(({ remedy }) => remedy !== undefined && remedy.length > 10)).toBe(true)
  return wrong.map(({ check, what }) => `${check}: ${what}`).sort()
}
