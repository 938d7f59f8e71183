import { describe, expect, test } from '@jest/globals'
import { parseBody, readCall, type Evidence } from '#detectors/call-text.ts'
import { judged, unscored, type NamedVerdict } from '#detectors/verdict.ts'
import { answers, asks } from '../testing/sample-job.ts'
import { makeEventContent, snippetOf } from './make-event-content.ts'

const call = (request: unknown, response: unknown = null) =>
  readCall(parseBody(JSON.stringify(request)), parseBody(JSON.stringify(response)))
const verdict = (evidence: Evidence[], value = 5): NamedVerdict => ({
  scorer: 'x',
  version: '1',
  owaspCategory: null,
  verdict: judged('detector', { value, rationale: '', contentFreeRationale: '', evidence }),
})
const at = (start: number, end: number, pointer = '/messages/0/content'): Evidence => ({
  part: 'request_body',
  pointer,
  start,
  end,
  kind: 'x',
})

describe('a snippet', () => {
  test.each([
    ['a short text is whole', 'hello', 0, 'hello'],
    ['nothing is nothing', '', 0, ''],
    ['blanks are nothing', '  \n ', 0, ''],
    ['identifiers are masked', 'to jane.doe@acme.io now', 0, 'to j•••@acme.io now'],
  ])('%s', (_name, text, start, expected) => {
    expect(snippetOf(text, start)).toBe(expected)
  })

  test('is about 200 characters around the place, cut between characters', () => {
    const text = `${'👩‍👩‍👧 '.repeat(300)}HERE ${'e\u0301'.repeat(500)}`
    const snippet = snippetOf(text, text.indexOf('HERE'))
    expect(snippet).toContain('HERE')
    expect(snippet).toMatch(/^…/)
    expect(snippet).toMatch(/e\u0301…$/)
    expect(snippet.isWellFormed()).toBe(true)
    expect([...new Intl.Segmenter().segment(snippet)].length).toBe(202)
  })

  test.each([
    ['emoji', `${'😀'.repeat(50)}x${'EVIL'.repeat(50)}`, 101, /^…😀/],
    ['a letter with an accent', `${'e\u0301'.repeat(60)}HERE`, 119, /^…e\u0301/],
    ['a family', `${'👨‍👩‍👧‍👦'.repeat(30)}HERE`, 330, /^…👨‍👩‍👧‍👦/],
    ['families that fill it', '👨‍👩‍👧‍👦'.repeat(250), 0, /👨‍👩‍👧‍👦…$/],
    ['a letter with thousands of accents', `${'y'.repeat(70)}e${'\u0301'.repeat(9_000)}`, 4_000, /^…\u0301/],
  ])('never begins or ends within %s', (_name, text, at, expected) => {
    const snippet = snippetOf(text, at)
    expect(snippet).toMatch(expected)
    expect(snippet).not.toContain('\ufffd')
    expect(snippet.replaceAll('👨‍👩‍👧‍👦', '')).not.toMatch(/\u200d|^…👩|👨…$/u)
  })

  test.each([
    [
      'a private key',
      `-----BEGIN PRIVATE KEY-----\n${'MC4CAQAwBQYDK2Vw/'.repeat(200)}\n-----END PRIVATE KEY-----`,
    ],
    ['a signed token', `eyJ${'hbGciOi'.repeat(9)}.eyJ${'zdWIiOiIx'.repeat(400)}.${'Sfl-KxwR'.repeat(5)}`],
  ])('shows the beginning of %s alone, however long it is', (_name, secret) => {
    expect(snippetOf(`Use ${secret} now`, 4)).toMatch(/^Use (?:----|eyJh)•••/)
    expect(snippetOf(`Use ${secret} HERE`, secret.length + 5)).toMatch(/^….{0,4}••• HERE$/)
  })

  test('never shows part of an identifier that its edges cut', () => {
    const card = '4111 1111 1111 1111'
    for (let shift = 0; shift < 40; shift++) {
      const before = `${'a'.repeat(100 + shift)} ${card} ${'b'.repeat(60)} HERE`
      expect(snippetOf(before, before.indexOf('HERE'))).not.toMatch(/\d{4} \d{4}/)
      const after = `HERE ${'c '.repeat(80)}${'d'.repeat(shift)} ${card} end`
      expect(snippetOf(after, 0)).not.toMatch(/4111|1111 1/)
    }
  })
})

describe('the content of an event', () => {
  test('shows the place of the evidence, and the answer from its beginning', () => {
    const prompt = `${'x'.repeat(500)} the bad part`
    const content = makeEventContent(call(asks(prompt), answers('No.')), [verdict([at(501, 513)])])
    expect(content.prompt_snippet).toContain('the bad part')
    expect(content).toMatchObject({ completion_snippet: 'No.' })
    expect(content).not.toHaveProperty('arguments')
  })

  test('quotes for each scorer what that one found', () => {
    const asked = call(asks(`an override ${'x '.repeat(400)} the number`), answers('Done.'))
    const named = (scorer: string, evidence: Evidence[]) => ({ ...verdict(evidence), scorer })
    const found = [
      named('first', [at(810, 820)]),
      named('second', [at(3, 11)]),
      named('third', [at(810, 820)]),
    ]
    const content = makeEventContent(asked, found)
    expect(content.prompt_snippet).toMatch(/^….*the number$/)
    expect(content.by_scorer).toEqual([
      {
        scorer_name: 'second',
        prompt_snippet: expect.stringMatching(/^an override/),
        completion_snippet: 'Done.',
      },
    ])
  })

  test('quotes each message in which scorers found something at the same place', () => {
    const messages = ['one', 'two'].map((content) => ({ role: 'user', content }))
    const found = messages.map((_message, index) => ({
      ...verdict([at(0, 3, `/messages/${index}/content`)]),
      scorer: `s${index}`,
    }))
    const content = makeEventContent(call({ messages }), found)
    expect(content).toMatchObject({ prompt_snippet: 'one', by_scorer: [{ prompt_snippet: 'two' }] })
  })

  test('quotes apart what a scorer found elsewhere in the answer alone', () => {
    const said = `a secret ${'x '.repeat(400)} the harm`
    const inAnswer = (start: number) => ({
      ...at(start, start + 5, '/choices/0/message/content'),
      part: 'response_body' as const,
    })
    const content = makeEventContent(call(asks('hi'), answers(said)), [
      { ...verdict([inAnswer(2)]), scorer: 'first' },
      { ...verdict([inAnswer(814)]), scorer: 'second' },
    ])
    expect(content.completion_snippet).toMatch(/^a secret/)
    expect(content.by_scorer).toMatchObject([
      { scorer_name: 'second', completion_snippet: expect.stringMatching(/the harm$/) },
    ])
  })

  test('quotes twenty scorers apart at most', () => {
    const asked = call(asks('word '.repeat(2_000)))
    const found = Array.from({ length: 500 }, (_, n) => ({
      ...verdict([at(n * 5, n * 5 + 4)]),
      scorer: `s${n}`,
    }))
    expect(makeEventContent(asked, found).by_scorer?.length).toBeLessThanOrEqual(20)
  })

  test('without evidence in the request shows its beginning; without an answer null', () => {
    const content = makeEventContent(call(asks('hello')), [
      verdict([]),
      { ...verdict([]), verdict: unscored('judge', 'judge_unavailable') },
    ])
    expect(content).toEqual({ prompt_snippet: 'hello', completion_snippet: null })
  })

  test('masks what only its name tells to be a secret, in arguments and in snippets', () => {
    const given = { db_password: 'tR0ub4dor&3x9', accounts: [{ ssn: '536228726' }], pwd: ['q8Zr2Lw0Vb7Nc5'] }
    const asked = call(
      { type: 'mcp_tool_call', tool_name: 't', arguments: given },
      { apiKey: 'q8Zr2Lw0Vb7Nc5' },
    )
    const shown = [
      makeEventContent(asked, [verdict([])]),
      makeEventContent(asked, [verdict([at(0, 13, '/arguments/db_password')])]),
    ]
    expect(JSON.stringify(shown)).toContain('tR0u•••')
    expect(JSON.stringify(shown)).not.toMatch(/dor&3|53622|Zr2Lw/)
  })

  test('ignores what safe verdicts point at', () => {
    const content = makeEventContent(call(asks(`start ${'x'.repeat(900)}`)), [verdict([at(800, 810)], 2)])
    expect(content.prompt_snippet).toMatch(/^start/)
  })

  test('has the arguments of a tool call, the beginning of very large ones', () => {
    const tool = (given: unknown) => call({ type: 'mcp_tool_call', tool_name: 't', arguments: given })
    expect(makeEventContent(tool({ path: '/etc' }), [verdict([])]).arguments).toEqual({ path: '/etc' })
    const given = { to: ['jane.doe@acme.io'], card: 4111111111111111, limit: 12, ok: true }
    expect(makeEventContent(tool(given), [verdict([])]).arguments).toEqual({
      ...given,
      to: ['j•••@acme.io'],
      card: expect.stringMatching(/^[^\d]*\d{0,4}$/),
    })
    expect(
      makeEventContent(tool({ 'jane@acme.io': 1, 'jim@acme.io': { list: ['joe@acme.io'] } }), [verdict([])])
        .arguments,
    ).toEqual({ 'j•••@acme.io': 1, 'j•••@acme.io 2': { list: ['j•••@acme.io'] } })
    const accents = makeEventContent(tool({ text: 'e\u0301'.repeat(50_000) }), [verdict([])]).arguments
    expect(accents).toMatchObject({ text: expect.stringMatching(/e\u0301$/) })
    const card = '4111 1111 1111 1111'
    const inside = JSON.stringify({ key: 'it is\nsk-proj-aB3dE6gH9jK2mN5pQ8sT' })
    const long = makeEventContent(tool({ card, inside, text: 'x'.repeat(100_000) }), [verdict([])])
    expect(JSON.stringify(long.arguments)).toContain('it is')
    expect(JSON.stringify(long.arguments)).not.toMatch(/1111 1111|aB3dE6/)
    expect(makeEventContent(tool({ text: 'é'.repeat(100_000) }), [verdict([])]).arguments).toMatchObject({
      truncated: true,
      bytes: 200_011,
    })
  })

  test('has all digits of the numbers in them, which may be a card', () => {
    const given =
      '{"order":12345678901234567890,"list":[-98765432109876543210,9007199254740993],"rate":0.1,"card":6212345678900000003}'
    const asked = parseBody(`{"type":"mcp_tool_call","tool_name":"t","arguments":${given}}`)
    const json = JSON.stringify(makeEventContent(readCall(asked, null), [verdict([])]).arguments)
    expect(json).toMatch(
      /^\{"order":12345678901234567890,"list":\[-98765432109876543210,9007199254740993\],"rate":0.1,"card":"[^\d"]*0003"\}$/,
    )
  })

  test.each([
    ['beside a body', 'a', 300_000],
    ['beside long arguments', 'x'.repeat(100_000), 0],
  ])('does not show what is left of digits that were lost: %s', (_where, text, rest) => {
    const asked = parseBody(
      `{"type":"mcp_tool_call","tool_name":"t","arguments":{"card":6212345678900000003,"share":0.5,"far":1e300,"text":"${text}"},"rest":"${'y'.repeat(rest)}"}`,
    )
    const shown = JSON.stringify(makeEventContent(readCall(asked, null), [verdict([])]).arguments)
    expect(shown).toMatch(/card\\*":\\*"…\\*",\\*"share\\*":0.5,\\*"far\\*":1e\+300/)
  })
})

test('what says why a call failed is quoted as no answer', () => {
  const failed = call(
    { messages: [{ role: 'user', content: 'Go.' }] },
    { error: { message: 'Quota exceeded.' } },
  )
  expect(makeEventContent(failed, [verdict([at(0, 2)])])).toEqual({
    prompt_snippet: 'Go.',
    completion_snippet: null,
  })
})
