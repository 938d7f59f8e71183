import { describe, expect, test } from '@jest/globals'
import { compileFilterExpression } from './filter-expression.ts'
import { toFilterValues } from './filter-values.ts'

const variables = ['event', 'data']
const threat = toFilterValues({
  event: 'threat_detected',
  data: {
    severity: 'critical',
    owasp_category: 'LLM02',
    scorer_name: 'pii_detection',
    score_value: 0.75,
    current_count: 10_000,
    agent_name: null,
    arguments: { path: '/etc/passwd', lines: [1, { of: 'two' }], constructor: { name: null } },
  },
})

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
  ["data.arguments.lines == [1] + [data.arguments.lines[1]] && data.arguments.lines[1].of == 'two'", true],
  ['data.arguments == data.arguments && data.arguments != data.arguments.constructor', true],
  ['data.arguments.constructor.name == null', true],
  ["'path' in data.arguments && !('shell' in data.arguments)", true],
  ["data.arguments.path.upperAscii().lastIndexOf('/') == 4 && data.arguments.path.indexOf('s') == 7", true],
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

const textOf = (length: number) => toFilterValues({ event: '', data: { text: `${'a'.repeat(length - 1)}!` } })

test('a pattern that backtracks elsewhere takes linear time', () => {
  const expression = compileFilterExpression("data.text.matches('^(a+)+$')", variables)
  expect(expression(textOf(4_096))).toBe(false)
})

test('a text that is too long for a pattern fails on the event', () => {
  const expression = compileFilterExpression("data.text.matches('a')", variables)
  expect(() => expression(textOf(4_097))).toThrow('matches takes 4096 characters of text at most')
})

describe('an expression that reads too much', () => {
  // As large as the arguments of a tool call are told (64 Ki).
  const a = 'a'.repeat(65_000)
  const half = a.slice(0, 30_000)
  const noise = Array.from({ length: 4_096 }, (_, index) => 'ab'[Math.imul(index, 2_654_435_761) >>> 31])
  const large = toFilterValues({
    event: '',
    data: { a, half, noise: noise.join(''), list: Array(30_000).fill(0), digits: '9'.repeat(65_000) },
  })
  const times = (count: number, part: string, between = '+') => Array(count).fill(part).join(between)

  test.each([
    ['joins and changes', `(${times(50, 'data.a')})${times(85, '.lowerAscii()', '')}.size() > 1`],
    ['changes', `data.a${times(85, '.upperAscii()', '')} == 'A'`],
    [
      'seeks a long text',
      `(${times(12, 'data.half')}).contains(${times(3, 'data.half')} + 'b' + ${times(3, 'data.half')})`,
    ],
    ['seeks from the end', "data.a.lastIndexOf(data.half + 'b') > 1"],
    ['seeks often', times(40, `data.a.contains('ab')`, ' || ')],
    ['compares long lists', `(${times(50, 'data.list')}) == (${times(50, 'data.list')})`],
    [
      'compares lists of lists',
      `[[[${times(40, 'data.list', ',')}]]] == [[[${times(40, 'data.list', ',')}]]]`,
    ],
    ['looks a list through', times(10, '1 in data.list', ' || ')],
    ['matches a pattern of too many steps', `data.noise.matches('[ab]*a[ab]{140}[cd]')`],
    ['matches patterns of too many steps', times(3, `data.noise.matches('[ab]*a[ab]{60}[cd]')`, ' || ')],
    ['reads digits', times(4, 'int(data.digits) == 1', ' || ')],
    ['counts characters', times(20, 'data.a.size() == 1', ' || ')],
  ])('%s: fails', (_name, source) => {
    expect(source.length).toBeLessThanOrEqual(2_000)
    expect(() => compileFilterExpression(source, variables)(large)).toThrow('reads too much text')
  })

  test('by its patterns is told the limit', () => {
    const expression = compileFilterExpression(`data.noise.matches('[ab]*a[ab]{140}[cd]') || true`, variables)
    expect(() => expression(large)).toThrow('a pattern of 146 steps reads at most 3815 characters')
  })

  test('fails whatever else it says, and the next one has a budget of its own', () => {
    const tooMuch = times(40, "data.a.contains('ab')", ' || ')
    const expression = compileFilterExpression(`${tooMuch} || true`, variables)
    expect(() => expression(large)).toThrow(expect.objectContaining({ code: 'EXPRESSION_FAILED' }))
    expect(compileFilterExpression("data.a.contains('b') || true", variables)(large)).toBe(true)
  })

  test.each([
    [
      'ten words are sought',
      `data.a.lowerAscii().contains('drop') || ${times(10, "data.a.contains('password')", ' || ')}`,
    ],
    ['fifty comparisons are made', `${times(50, "data.a == 'x'", ' || ')} || 'x' in [data.a, 'x']`],
    [
      'four patterns are matched',
      times(4, "data.noise.matches('(?i)(password|secret|token|api[_-]?key)')", ' || '),
    ],
    [
      'a pattern is matched and more is joined',
      `data.noise.matches('(?i)drop table') || data.list != [] && 'b' + data.a != data.a`,
    ],
  ])('on the longest texts %s', (_name, source) => {
    expect(compileFilterExpression(source, variables)(large)).toEqual(expect.any(Boolean))
  })

  test('however deep its values are', () => {
    const depth = 20_000
    const values = toFilterValues({ data: JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth)) })
    expect(compileFilterExpression('data.a.a.a != 1', variables)(values)).toBe(true)
    expect(() => compileFilterExpression('data == data', variables)(values)).toThrow()
  })
})
