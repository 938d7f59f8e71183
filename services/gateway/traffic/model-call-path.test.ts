import { expect, test } from '@jest/globals'
import { isModelCall } from './model-call-path.ts'

test.each([
  ['/v1/chat/completions', true],
  ['/v1/chat/completions?api-version=1', true],
  ['/v1/chat/%63ompletions', true],
  ['/v1/chat%2Fcompletions', true],
  ['/v1/chat/completions/', true],
  ['/v1/chat/completions//?a=/x', true],
  ['/v1/chat/completions/.', true],
  ['/v1/chat/completions/%2e', true],
  ['/v1/chat/completions/x/..', true],
  ['/v1/chat/completions/x/%2E%2e/', true],
  ['/v1/chat/./completions', true],
  ['/v1/Chat/Completions', true],
  ['/v1/responses/#a', true],
  ['/v1/responses/compact?beta=true', true],
  ['/v1/responses/input_tokens', false],
  ['/openai/deployments/a%2fb/embeddings/', true],
  ['/anthropic/v1/messages', true],
  ['/v1/threads/../messages', true],
  ['/v1/threads/thread_1/messages', false],
  ['/v1/Threads/thread_1/%6dessages/', false],
  ['/v1/chat/completions/..', false],
  ['/v1/chat/completions/x', false],
  ['/v1/chat/%2563ompletions', false],
  ['/v1/chat/%6', false],
  ['/v1/files?of=/v1/chat/completions', false],
  ['/', false],
  ['/../..', false],
])('%s: %s', (path, is) => {
  expect(isModelCall(path)).toBe(is)
})
