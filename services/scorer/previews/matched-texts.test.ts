import { expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { parseBody, readCall } from '#detectors/call-text.ts'
import { makeProjectScorer } from '../scoring/custom/project-scorers.ts'
import { startCustomRun } from '../scoring/custom/run-custom-scorer.ts'
import { searchablesOf } from '../scoring/custom/searchable.ts'
import { matchedTexts } from './matched-texts.ts'

const long = `${'word '.repeat(30_000)}falcon 7${' word'.repeat(10)}`
const chat = (content: string) => ({ messages: [{ role: 'user', content }] })
const calls = (given: string) => ({
  choices: [{ message: { tool_calls: [{ function: { name: 'run', arguments: given } }] } }],
})

test.each<[string, object, object | null, object, string[]]>([
  ['a keyword', chat('Is Falcon ready?'), null, { keywords: ['falcon'] }, ['Falcon']],
  ['a pattern far into a long text', chat(long), null, { patterns: ['falcon \\d'] }, ['falcon 7']],
  ['a match across strings', { a: 'x', b: 'y' }, null, { patterns: ['"x","b"'] }, ['"x","b"']],
  [
    'JSON inside a string, which has two texts at one place',
    chat('x'),
    calls('{"note":"aaaaaa","path":"secret place"}'),
    { patterns: ['^secret \\w+'], match_on: 'tool_arguments' },
    ['secret place'],
  ],
  [
    'a list of words',
    { type: 'mcp_tool_call', tool_name: 'sh', arguments: { command: ['rm', '-rf', '/data'] } },
    null,
    { patterns: ['rm -rf'], match_on: 'tool_arguments' },
    ['rm -rf /data'],
  ],
  ['an identifier', chat('4111 1111 1111 1111'), null, { keywords: ['4111 1111 1111 1111'] }, ['•••1111']],
])('%s is shown as it stands, identifiers masked', (_name, request, response, terms, texts) => {
  const kind = 'patterns' in terms ? 'regex' : 'keyword_list'
  const scorer = makeProjectScorer({
    id: idToUuid(newId('projectScorer')),
    name: 'a',
    version: 1,
    definition: { kind, match_on: 'both', ...terms },
    description: null,
    severity: 'high',
    owasp_category: null,
  })
  if (!('find' in scorer)) throw new Error('no custom scorer')
  const body = (value: object | null) => (value === null ? null : parseBody(JSON.stringify(value)))
  const call = readCall(body(request), body(response))
  const run = startCustomRun(scorer)
  for (const text of searchablesOf(call)(scorer.matchOn)) run.read(text)
  const shown = matchedTexts(call, run.verdict().evidence, scorer)
  expect(shown.map(({ text }) => text)).toEqual(texts)
})
