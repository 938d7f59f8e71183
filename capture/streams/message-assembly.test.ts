import { expect, test } from '@jest/globals'
import { createMessageAssembly } from './message-assembly.ts'

test('a conversation that was shortened on the way: the summary is kept, and what it took', () => {
  const assembly = createMessageAssembly()
  const block = { type: 'compaction', content: null, encrypted_content: null }
  // `BetaCompactionContentBlockDelta` of @anthropic-ai/sdk.
  const delta = { type: 'compaction_delta', content: 'It was of sluices.', encrypted_content: 'x' }
  const usage = { output_tokens: 20, iterations: [{ type: 'compaction', output_tokens: 9 }] }
  assembly.add({ type: 'message_start', message: { type: 'message', content: [] } })
  assembly.add({ type: 'content_block_start', index: 0, content_block: block })
  assembly.add({ type: 'content_block_delta', index: 0, delta })
  assembly.add({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage })
  expect(assembly.body()).toMatchObject({ content: [{ ...delta, type: 'compaction' }], usage })
})

test('what a delta of a kind that is not known says is kept', () => {
  const assembly = createMessageAssembly()
  assembly.add({ type: 'message_start', message: { type: 'message' } })
  for (const words of ['rm ', '-rf'])
    assembly.add({ type: 'content_block_delta', index: 0, delta: { type: 'command_delta', command: words } })
  expect(assembly.body()).toMatchObject({ content: [{ command: 'rm -rf' }] })
})
