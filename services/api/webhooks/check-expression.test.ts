import { expect, test } from '@jest/globals'
import { faultOfExpression } from './check-expression.ts'

test.each([
  'data.severity == "critical" && data.owasp_category in ["LLM01"]',
  'event == "usage_alert" || data.score_value >= 0.75',
  'data.limit > 5',
  'data.current_usd > 1.5',
  'data.tool_name.startsWith("delete_") || data.session_id == "s"',
  'data.agent_tag != null && data.agent_tag.contains("prod")',
  'data.prompt_snippet.substring(0, 100) == "x"',
  'data.arguments.path.startsWith("/etc")',
  'data.test',
])('%s may be saved', (expression) => {
  expect(faultOfExpression(expression)).toBeUndefined()
})

test.each([
  ['data.severity > 3', "no matching overload for '_>_' applied to '(string, int)'"],
  ['data.severty == "high"', 'field not found: severty'],
  ['data.severity', 'neither true nor false'],
  ['"high"', 'neither true nor false'],
  ['data.severity && true', 'expected bool, got string'],
  ['data.limit.startsWith("1")', 'no matching overload'],
  ['data.severity ==', 'line 1'],
])('%s may not', (expression, fault) => {
  expect(faultOfExpression(expression)).toContain(fault)
})
