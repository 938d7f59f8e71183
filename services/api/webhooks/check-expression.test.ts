import { expect, test } from '@jest/globals'
import { faultOfExpression } from './check-expression.ts'

test.each([
  'data.severity == "critical" && data.owasp_category in ["LLM01"]',
  'event == "usage_alert" || data.score_value >= 0.75',
  'data.limit > 5',
  'data.current_usd > 1.5',
  'data.tool_name.startsWith("delete_") || data.session_id == "s"',
  'data.agent_tag != null && data.agent_tag.contains("prod")',
  'data.agent_tag == null ? data.severity == "high" : data.agent_tag.matches("^prod")',
  'data.prompt_snippet.substring(0, 100) == "x"',
  'size(data.test ? data.model : data.tier) > 3',
  'type(data.limit) == double && !data.test',
  'data.arguments.path.startsWith("/etc")',
  'data["arguments"].lines[0] > 3 || has(data.arguments.path)',
  '[data.arguments.a, 1][0].b ? data.arguments.c : data.arguments["d"]',
  'data.test',
  'event != "threat_detected" || data.suppressed != true',
  '!(data.suppressed == true)',
])('%s may be saved', (expression) => {
  expect(faultOfExpression(expression)).toBeUndefined()
})

// The caret marks the reported position.
test.each([
  ['data.severity ^> 3', "found no matching overload for '_>_' applied to '(string, int)'"],
  ['data^.severty == "high"', 'field not found: severty'],
  ['data^.severity', 'expected bool, got string'],
  ['^"high"', 'expected bool, got string'],
  ['data.test ? data.severity == "high" : data^.tier', 'expected bool, got string'],
  ['data^.severity && true', 'expected bool, got string'],
  ['data.limit^.startsWith("1")', 'found no matching overload'],
  ['data.severity^[0] == "c"', 'string has no elements'],
  ['data^[null] == "c"', 'unsupported key type'],
  ['timestamp(created_at) ^> 3', 'found no matching overload'],
  // What evaluating a sample event would miss.
  ['data.severity == "critical" ||\n  data.score_value^.contains("x")', 'found no matching overload'],
  ['event == "none" && (data.test || data.severity ^> 3)', 'found no matching overload'],
  ['data.test || data^.model', 'expected bool, got string'],
  ['data.test ? true : data.limit ^+ 1 > 5.0', "applied to '(double, int)'"],
  ['data^.tier ? true : false', 'expected bool, got string'],
  ['(data.test ? data.severity : data.limit)^.contains("x")', "contains' applied to 'double.(string)'"],
  ['(data.test ? data.model : data.limit)^.substring(0, 100) == "x"', "substring' applied to 'double."],
  ['(data.test ? null : data.agent_tag)^.contains("x")', 'found no matching overload'],
  ['data.suppressed^.startsWith("t")', 'found no matching overload'],
  // A tool's arguments can be anything.
  ['data.tool_name == "arguments" || data.severity ^> 3', 'found no matching overload'],
  ['data.arguments.path == "/etc" && data.severity ^> 3', 'found no matching overload'],
  ['data.severity^.arguments == 1', 'field not found: arguments'],
])('%s may not', (marked, problem) => {
  const [before = ''] = marked.split('^')
  const lines = before.split('\n')
  const fault = faultOfExpression(marked.replace('^', ''))
  expect(fault).toContain(`line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}: `)
  expect(fault).toContain(problem)
})

test('what cannot be parsed may not, and says where', () => {
  expect(faultOfExpression('data.severity ==')).toContain('line 1, column ')
})

test('the longest expressions of many types are checked without trying all combinations', () => {
  const anyOfFive = '(data.test ? 1 : data.test ? 1u : data.test ? 1.0 : data.test ? "1" : null)'
  const list = `[${Array(24).fill(anyOfFive).join(',')}]`
  expect(list.length).toBeGreaterThan(1_800)
  expect(faultOfExpression(`size(${list}) == 24`)).toBeUndefined()
})
