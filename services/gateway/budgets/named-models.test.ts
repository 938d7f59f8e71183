import { describe, expect, test } from '@jest/globals'
import { namedModels, readRequest } from './named-models.ts'

const chat = '/v1/chat/completions'
const named = (text: string, path = chat) => namedModels(path, readRequest(Buffer.from(text)))

describe('every model that a body names', () => {
  test.each([
    ['once', '{"model":"a"}', ['a']],
    ['twice', '{"model":"a","model":"b"}', ['a', 'b']],
    ['in other letters', '{"Model":"a","MODEL":"b"}', ['a', 'b']],
    ['with an escape', '{"mod\\u0065l":"a"}', ['a']],
    ['as Bedrock does', '{"modelId":"a"}', ['a']],
    ['for a router', '{"model":"a","models":["b",{"model":"c"}],"fallbacks":["d"]}', ['a', 'b', 'c', 'd']],
    ['for a tool', '{"model":"a","tools":[{"type":"advisor","model":"b"},{"type":"x"}]}', ['a', 'b']],
    ['inside something else', '{"model":"a","metadata":{"model":"b"}}', ['a']],
    ['not as text', '{"model":7}', []],
    ['not at all', '{}', []],
  ])('%s', (_name, text, models) => {
    expect(named(text)).toEqual(models)
  })

  test.each([['[{"model":"a"}]'], ['"a"'], ['{"model":"a"'], ['model=a'], ['\ufeff{"model":"a"}'], ['']])(
    'of %j is unreadable',
    (text) => {
      expect(readRequest(Buffer.from(text))).toBeUndefined()
    },
  )
})

describe('the model that a path names', () => {
  test.each([
    ['/v1beta/models/gemini-x:generateContent', ['gemini-x']],
    ['/v1beta/models/gemini-x:predictLongRunning?alt=sse', ['gemini-x']],
    ['/model/us.anthropic.claude-v1%3A0/converse', ['us.anthropic.claude-v1:0']],
    ['/model/anthropic.claude-v1:0/invoke', ['anthropic.claude-v1:0']],
    [
      '/model/arn%3Aaws%3Abedrock%3Ax%3Ainference-profile%2Fmine/converse',
      ['arn:aws:bedrock:x:inference-profile/mine'],
    ],
    ['/openai/deployments/mine/chat/completions?api-version=1', ['mine']],
    ['/v1/engines/old/completions', ['old']],
    ['/v1//models/gemini%2Dx:generateContent/', ['gemini-x']],
    ['/v1/%6dodels/gemini-x:generateContent', ['gemini-x']],
    ['/v1/x/../models/gemini-x:generateContent', ['gemini-x']],
    [chat, []],
  ])('%s', (path, models) => {
    expect(namedModels(path, undefined)).toEqual(models)
  })

  test('counts beside that of the body', () => {
    expect(named('{"model":"a"}', '/openai/deployments/b/chat/completions')).toEqual(['b', 'a'])
  })
})
