import { expect, test } from '@jest/globals'
import { isForEveryTenant } from './shared-account.ts'

test.each([
  ['POST', '/v1/chat/completions', true],
  ['POST', '/openai/deployments/gpt-4.1/chat/completions?api-version=2024-10-21', true],
  ['POST', '/v1/messages?beta=true', true],
  ['POST', '/v1/messages/count_tokens', true],
  ['POST', '/v1/audio/transcriptions', true],
  ['GET', '/v1/models', true],
  ['HEAD', '/v1/models/meta-llama/Llama-3:8b', true],
  ['GET', '/v1/chat/completions', false],
  ['DELETE', '/v1/models/ft:gpt', false],
  ['GET', '/v1/files', false],
  ['GET', '/v1/files/file-1/content', false],
  ['GET', '/v1/responses/resp_1', false],
  ['POST', '/v1/responses/resp_1/cancel', false],
  ['POST', '/v1/files', false],
  ['POST', '/v1/messages/batches', false],
  ['POST', '/v1/Threads/thread_1/messages', false],
  ['POST', '/v1/files#/chat/completions', false],
  ['POST', '/v1/files%3f/chat/completions', false],
  ['POST', '/v1/files\\/chat/completions', false],
  ['POST', '/v1/chat/completions/../../files/responses', false],
  ['GET', '/v1/models/%2e%2e/files', false],
  ['GET', '/v1/models/../files', false],
  ['GET', '/v1/models//..', false],
  ['GET', '/v1beta/models/gemini-2.5-flash', true],
  ['GET', '/v1beta/models/veo-3/operations?pageSize=9', false],
  ['GET', '/v1beta/models/veo-3/Operations/op_1', false],
  ['OPTIONS', '*', false],
])('%s %s: %s', (method, path, is) => {
  expect(isForEveryTenant(method, path)).toBe(is)
})
