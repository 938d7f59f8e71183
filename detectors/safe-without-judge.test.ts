import { expect, test } from '@jest/globals'
import { neverSafeByDetectors, safeByDetectors } from '#schemas/judge-status.ts'
import { builtInScorers } from '#schemas/verdicts.ts'
import { builtIns } from './built-in-scorers.ts'
import { detectCall } from './testing/detect-call.ts'

const answer = (content: string) => ({
  choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
})
const usage = { prompt_tokens: 40, completion_tokens: 12, reasoning_tokens: null, cost_usd: 0.0001 }
const user = (content: string) => ({ role: 'user', content })
const system = { role: 'system', content: 'You answer questions about the opening hours of the town museum.' }
const tools = [{ type: 'function', function: { name: 'opening_hours', parameters: { type: 'object' } } }]

/** Harmless calls of several kinds. */
const calls = [
  [{ messages: [user('What is the capital of France?')] }, answer('The capital of France is Paris.')],
  [
    { messages: [system, user('When does the museum open on Sunday?')], tools },
    answer('It opens at ten in the morning on Sunday.'),
  ],
  [
    {
      messages: [
        system,
        user('When does it open on Sunday?'),
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'opening_hours', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'On Sunday the museum opens at ten in the morning.' },
      ],
      tools,
    },
    answer('On Sunday the museum opens at ten in the morning.'),
  ],
] as const

const saysSafe = (scorer: (typeof builtInScorers)[number]) =>
  calls.some(([request, response]) => {
    const finding = detectCall(builtIns[scorer].create, request, response, usage)
    return !('reason' in finding) && finding.value < 4
  })

test('the notice about scorers without a judge says what the detectors do', () => {
  expect(builtInScorers.filter((scorer) => !saysSafe(scorer))).toEqual(
    builtInScorers.filter((scorer) => neverSafeByDetectors.includes(scorer)),
  )
  expect([...safeByDetectors, ...neverSafeByDetectors].toSorted()).toEqual(builtInScorers.toSorted())
})
