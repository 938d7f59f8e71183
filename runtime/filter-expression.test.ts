import { describe, expect, test } from '@jest/globals'
import { compileFilterExpression } from './filter-expression.ts'

const variables = ['event', 'data']
const threat = {
  event: 'threat_detected',
  data: {
    severity: 'critical',
    owasp_category: 'LLM02',
    scorer_name: 'pii_detection',
    score_value: 0.75,
    current_count: 10_000,
    agent_name: null,
    arguments: { path: '/etc/passwd', lines: [1, 2] },
  },
}

test.each([
  ["data.severity == 'critical'", true],
  ["data.severity != 'critical'", false],
  ["data.severity in ['high', 'critical'] && data.owasp_category != 'LLM01'", true],
  ["event == 'usage_alert' || data.scorer_name.startsWith('pii')", true],
  ["!(data.severity == 'critical')", false],
  ['data.score_value >= 0.75', true],
  ['data.current_count == 10000', true],
  ['data.current_count > 10000', false],
  ['data.agent_name == null', true],
  ["data.agent_name == 'x'", false],
  ["data.arguments.path.matches('^/etc/')", true],
  ["has(data.arguments) && data['severity'] == 'critical'", true],
  ["size(data.severity) == 8 ? true : data.severity == ''", true],
  ['type(data.severity) == string', true],
])('%s is %s', (source, expected) => {
  expect(compileFilterExpression(source, variables)(threat)).toBe(expected)
})

describe('refused when compiled, with the place', () => {
  test.each([
    ["data.severity = 'x'", 'line 1, column 15'],
    ["event == 'a' &&\n  nothing == 1", 'line 2, column 3: unknown name nothing'],
    ['evil(data)', 'unknown function evil'],
    ['[1, 2].all(x, [1, 2].all(y, x == y))', 'macros that loop'],
    ["data.severity.replace('a', 'aaaaaaaa') == ''", 'unknown function replace'],
    ["{'a': 1}.a == 1", 'maps'],
    ['', 'line 1'],
    ['('.repeat(900) + 'true' + ')'.repeat(900), 'nested deeper'],
    [`event == '${'x'.repeat(2_000)}'`, 'longer than 2000'],
    ['\u0000', 'line 1'],
    [
      "event == 'a' ||\n  " + "event.matches('a') || ".repeat(4) + "event.matches('b')",
      'line 2, column 96: matches stands here more than 4 times',
    ],
    [`event.matches('${'a'.repeat(201)}')`, 'line 1, column 6: the pattern is longer than 200 characters'],
    ["event.matches('((a{50}){20}|b)')", 'line 1, column 6: the pattern is too large'],
    ["event.matches('(a')", 'line 1, column 6: the pattern cannot be compiled'],
    ['event.matches(data.pattern)', 'line 1, column 6: matches takes one pattern, as text in quotes'],
  ])('%s', (source, problem) => {
    expect(() => compileFilterExpression(source, variables)).toThrow(problem)
  })
})

test.each([
  "data.agent_name.startsWith('x')",
  'data.severity',
  'data.severity > 1',
  'data.no_such_field == 1',
])('%s fails on the event', (source) => {
  expect(() => compileFilterExpression(source, variables)(threat)).toThrow(
    expect.objectContaining({ code: 'EXPRESSION_FAILED' }),
  )
})

const textOf = (length: number) => ({ event: '', data: { text: `${'a'.repeat(length - 1)}!` } })

test('a pattern that backtracks elsewhere takes linear time', () => {
  const expression = compileFilterExpression("data.text.matches('^(a+)+$')", variables)
  expect(expression(textOf(4_096))).toBe(false)
})

test('a text that is too long for a pattern fails on the event', () => {
  const expression = compileFilterExpression("data.text.matches('a')", variables)
  expect(() => expression(textOf(4_097))).toThrow('matches takes 4096 characters of text at most')
})
