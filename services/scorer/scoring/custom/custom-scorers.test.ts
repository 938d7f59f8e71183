import { shippedScorers } from '../../testing/shipped-scorers.ts'
import { describe, expect, test } from '@jest/globals'
import { parseBody, readCall } from '#detectors/call-text.ts'
import { parseScorers } from './parse-scorers.ts'
import { startCustomRun } from './run-custom-scorer.ts'
import { searchablesOf } from './searchable.ts'

function run(yaml: string, request: unknown, response: unknown = null) {
  const parsed = parseScorers(yaml)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  const [scorer] = parsed.scorers
  if (scorer === undefined) throw new Error('no scorer')
  const call = readCall(parseBody(JSON.stringify(request)), parseBody(JSON.stringify(response)))
  const custom = startCustomRun(scorer)
  for (const text of searchablesOf(call)(scorer.matchOn)) custom.read(text)
  return custom.verdict()
}

const keywords = (list: string, rest = '') =>
  `- { name: k, type: keyword_list, severity: high, keywords: ${list}${rest} }`
const patterns = (list: string, rest = '') =>
  `- { name: r, type: regex, severity: medium, patterns: ${list}${rest} }`

describe('keywords', () => {
  test.each([
    ['another case', '[Project Falcon]', 'about PROJECT FALCON now', true],
    ['sharp s', '[STRASSE]', 'in der Straße', true],
    ['final sigma', '["ΟΔΟΣ"]', 'οδος', true],
    ['an accent composed otherwise', '["Café"]', 'CAFE\u0301', true],
    ['a letter without its accent', '[cafe]', 'café', false],
    ['a sign that is shown as emoji', '[❤]', 'with ❤\ufe0f and love', true],
    [
      'a letter whose accent is in the next piece',
      '[cafe]',
      `${'x'.repeat(65_532)}cafe\u0301${'x'.repeat(9_000)}`,
      false,
    ],
    ['dotless i', '[ısı]', 'isi', false],
    ['a quote that JSON escapes', `['say "hi"']`, 'they say "hi"', true],
    ['a miss', '[falcon]', 'nothing here', false],
  ])('%s', (_name, list, text, hit) => {
    expect(run(keywords(list), { messages: [{ role: 'user', content: text }] }).label).toBe(
      hit ? 'unsafe' : 'safe',
    )
  })

  test('say where they stood, in units of the original', () => {
    const verdict = run(keywords('[straße]'), { prompt: 'ﬁ 👍 STRASSE!' })
    expect(verdict.evidence).toEqual([
      { part: 'request_body', pointer: '/prompt', kind: 'keyword 1', start: 5, end: 12 },
    ])
    expect(verdict).toMatchObject({ value: 5, severity: 'high', method: 'custom' })
  })
})

test("what stands in two pieces of Replicate's words is found, and once", () => {
  const response = { output: ['about fal', 'con'], urls: { get: 'u' } }
  expect(run(keywords('[falcon]', ', match_on: both'), {}, response).evidence).toEqual([
    { part: 'response_body', pointer: '/output', kind: 'keyword 1', start: 6, end: 12 },
  ])
})

describe('patterns', () => {
  test.each([
    ['as written: case counts', "['ACME-[0-9]+']", 'acme-12', false],
    ['found', "['ACME-[0-9]+']", 'see ACME-12', true],
    ['in the JSON text', `['"temperature":0\\.9']`, 'x', true],
  ])('%s', (_name, list, text, hit) => {
    expect(run(patterns(list), { prompt: text, temperature: 0.9 }).label).toBe(hit ? 'unsafe' : 'safe')
  })

  test.each([
    ['the beginning is one', '^7', '7'.repeat(100_000), [0]],
    ['no beginning of a piece is one', '^[0-8]', `9${'7'.repeat(100_000)}`, []],
    ['no end of a piece is one', '[^.]$', `${'7'.repeat(100_000)}.`, []],
    ['the end is one', '[.]$', `${'7'.repeat(100_000)}.`, [100_000]],
    ['a run that goes on over a beginning', '^[0-9]+$', `x${'7'.repeat(100_000)}`, []],
    ['a run that goes on over an end', '[0-9]+$', `${'7'.repeat(100_000)}x`, []],
    ['a run that begins at the beginning', '^.*secret', `${'7'.repeat(100_000)}secret`, [61_440]],
    ['a word longer than a piece', '\\b7+\\b', `x${'7'.repeat(100_000)}`, []],
    ['a word that a piece would cut in two', '\\bcat\\b', 'concatenates '.repeat(10_000), []],
    ['what goes on over an end', 'secret.*', `${'7'.repeat(9_000)}secret${'7'.repeat(91_000)}`, [9_000]],
    ['what stands where two pieces meet', 'x+', `${'7'.repeat(65_534)}xxxx${'7'.repeat(9_000)}`, [65_534]],
  ])('of a long text: %s', (_name, pattern, text, starts) => {
    const { evidence } = run(patterns(`['${pattern}']`), { prompt: text })
    const found = evidence.filter(({ pointer }) => pointer !== null).map(({ start }) => start)
    expect([...new Set(found)]).toEqual(starts)
  })

  test('that would take for ever elsewhere are done at once', () => {
    expect(run(patterns("['(a+)+$']"), { prompt: `${'a'.repeat(50_000)}!` }).label).toBe('safe')
  })
})

describe('match_on', () => {
  const tool = { type: 'mcp_tool_call', tool_name: 'shell', arguments: { command: 'rm -rf /' } }
  const answer = {
    choices: [
      { message: { tool_calls: [{ function: { name: 'shell', arguments: '{"command":"rm -rf /"}' } }] } },
    ],
  }
  test.each([
    ['request_body by default', '', { prompt: 'rm -rf' }, null, true],
    ['request_body by default, not the answer', '', { prompt: '' }, { text: 'rm -rf' }, false],
    ['response_body', ', match_on: response_body', { prompt: 'rm -rf' }, { text: 'ok' }, false],
    ['response_body, found', ', match_on: response_body', {}, { text: 'rm -rf' }, true],
    ['both', ', match_on: both', {}, { text: 'rm -rf' }, true],
    ['tool_arguments of a tool call', ', match_on: tool_arguments', tool, null, true],
    ['tool_arguments that an answer calls', ', match_on: tool_arguments', {}, answer, true],
    [
      'tool_arguments, not the words around',
      ', match_on: tool_arguments',
      { prompt: 'rm -rf' },
      { text: 'rm -rf' },
      false,
    ],
  ])('%s', (_name, rest, request, response, hit) => {
    expect(run(keywords('[rm -rf]', rest), request, response).label).toBe(hit ? 'unsafe' : 'safe')
  })
})

describe('destructive_tool_call, which comes with the system', () => {
  const shipped = shippedScorers()
  test.each([
    ['rm -r -f /srv', true],
    ['rm --recursive --force a', true],
    ['cd /x && sudo -n rm -v a -fr', true],
    ['find . | xargs rm -rf', true],
    ['bash -c "rm -r -f /tmp/x"', true],
    ['psql -h db -c "drop table users"', true],
    ['SELECT 1; delete from public.users', true],
    ['ssh -p 22 root@db1 "rm -rf /srv"', true],
    ["docker exec web sh -c 'rm -rf /data'", true],
    ['su - deploy -c "rm -fr /data"', true],
    [['rm', '-rf', '/srv'], true],
    [['bash', '-lc', 'cd / && rm -rf srv'], true],
    [['ssh', 'db1', 'rm -rf /srv'], true],
    [['psql', '-c', 'drop table customers'], true],
    [['git', 'log', '--grep', 'rm -rf'], false],
    [['rm', 'a', 'b'], false],
    ['grep -rn "rm -rf" .', false],
    ["grep -c 'drop table' schema.sql", false],
    ['git log -S "rm -rf"', false],
    ['rm -r build', false],
    ['delete from users where id = 1', false],
  ])('%j', (command, hit) => {
    const call = { type: 'mcp_tool_call', tool_name: 'shell', arguments: { command } }
    expect(run(shipped, call).label).toBe(hit ? 'unsafe' : 'safe')
    const made = { function: { name: 'shell', arguments: JSON.stringify({ command }) } }
    expect(run(shipped, {}, { choices: [{ message: { tool_calls: [made] } }] }).label).toBe(
      hit ? 'unsafe' : 'safe',
    )
  })

  test('a list of arguments: the place is the program', () => {
    const call = { type: 'mcp_tool_call', tool_name: 'run', arguments: { argv: ['rm', '-rf', '/srv'] } }
    expect(run(shipped, call).evidence).toEqual([
      { part: 'request_body', pointer: '/arguments/argv/0', kind: 'pattern 1', start: 0, end: 2 },
    ])
  })

  test('words of a list that is no command are still searched one by one', () => {
    const call = { type: 'mcp_tool_call', tool_name: 'tag', arguments: { tags: ['red', 'ACME-12'] } }
    expect(run(patterns("['^ACME-[0-9]+$']", ', match_on: tool_arguments'), call).label).toBe('unsafe')
  })
})

describe('a bad file is refused with line and reason', () => {
  const good = "- name: ok\n  type: regex\n  severity: high\n  patterns: ['a']\n"
  test.each([
    ['no list', 'name: x', 1, 'expected a list of scorers'],
    ['not YAML', "- name: 'x", 1, 'quote'],
    ['an unknown type', `${good}- name: x\n  type: magic\n  severity: high\n`, 6, 'type'],
    [
      'an unknown severity',
      `${good}- name: x\n  type: regex\n  patterns: ['a']\n  severity: terrible\n`,
      8,
      'severity',
    ],
    [
      'a pattern that does not compile',
      `${good}- name: x\n  type: regex\n  severity: high\n  patterns:\n    - 'a'\n    - '('\n`,
      10,
      'patterns.1',
    ],
    [
      'a look-behind, which is not linear',
      "- name: x\n  type: regex\n  severity: high\n  patterns: ['(?<=a)b']\n",
      4,
      'patterns.0',
    ],
    [
      'an unknown category',
      `${good}- name: x\n  type: regex\n  severity: high\n  patterns: ['a']\n  owasp_category: LLM11\n`,
      9,
      'owasp_category',
    ],
    [
      'keywords of a regex',
      `${good}- name: x\n  type: regex\n  severity: high\n  patterns: ['a']\n  keywords: [b]\n`,
      5,
      'keywords',
    ],
    ['no patterns', `${good}- name: x\n  type: regex\n  severity: high\n`, 5, 'patterns'],
    ['a name twice', `${good}${good}`, 5, 'is a duplicate'],
    [
      'a built-in name',
      "- name: pii_detection\n  type: regex\n  severity: high\n  patterns: ['a']\n",
      1,
      'built-in',
    ],
    [
      'a bad project',
      `${good}- name: x\n  type: regex\n  severity: high\n  patterns: ['a']\n  projects: [mine]\n`,
      9,
      'projects.0',
    ],
  ])('%s', (_name, yaml, line, reason) => {
    const parsed = parseScorers(yaml)
    expect(parsed).toMatchObject({
      ok: false,
      problems: [{ line, reason: expect.stringContaining(reason) as unknown }],
    })
  })

  test('nothing is no scorers', () => {
    expect(parseScorers('# none yet\n')).toEqual({ ok: true, scorers: [] })
  })
})

test('an entry that changes gets another version', () => {
  const version = (yaml: string) => {
    const parsed = parseScorers(yaml)
    return parsed.ok ? parsed.scorers[0]?.version : undefined
  }
  expect(version(keywords('[a]'))).toBe(version(keywords('[a]')))
  expect(version(keywords('[a]'))).not.toBe(version(keywords('[b]')))
})
