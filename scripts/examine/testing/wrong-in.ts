import { expect } from '@jest/globals'
import type { Finding } from '../finding.ts'

/** What is wrong, each as `check: what`; every one of them says what to do. */
export function wrongIn(findings: readonly Finding[]): string[] {
  const wrong = findings.filter(({ state }) => state === 'problem')
  expect(wrong.every(({ remedy }) => remedy !== undefined && remedy.length > 10)).toBe(true)
  return wrong.map(({ check, what }) => `${check}: ${what}`).sort()
}
