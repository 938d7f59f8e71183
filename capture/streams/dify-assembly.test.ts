import { describe, expect, test } from '@jest/globals'
import { errorOfAnswer } from '../answer-error.ts'
import { textsOfCall } from '../texts-of-call.ts'
import { usageOf } from '../usage.ts'
import { assembleStream } from './assemble-stream.ts'

/** docs.dify.ai/api-reference, POST /chat-messages and /workflows/run with `response_mode: streaming`. */
const sse = (...chunks: object[]) =>
  `event: ping\n\n${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}`
const ids = { task_id: 't', message_id: 'm', conversation_id: 'c' }

describe('Dify', () => {
  test('a chat is what its blocking mode answers', () => {
    const stream = sse(
      { event: 'workflow_started', task_id: 't', workflow_run_id: 'w', data: { id: 'w' } },
      { event: 'message', ...ids, id: 'm', answer: 'Ah', created_at: 1 },
      { event: 'message', ...ids, id: 'm', answer: 'oy', created_at: 1 },
      { event: 'tts_message', ...ids, audio: 'qqqqq' },
      {
        event: 'workflow_finished',
        task_id: 't',
        workflow_run_id: 'w',
        data: { outputs: { answer: 'Ahoy' } },
      },
      {
        event: 'message_end',
        ...ids,
        id: 'm',
        metadata: { usage: { prompt_tokens: 3, completion_tokens: 2 } },
      },
    )
    const assembled = assembleStream(stream)
    expect(assembled).toEqual({
      ended: true,
      body: {
        ...ids,
        id: 'm',
        answer: 'Ahoy',
        created_at: 1,
        metadata: { usage: { prompt_tokens: 3, completion_tokens: 2 } },
      },
    })
    expect(usageOf(assembled?.body)).toMatchObject({ promptTokens: 3, completionTokens: 2 })
    expect(textsOfCall({ query: 'Hi', inputs: {} }, assembled?.body).answer).toBe('Ahoy')
  })

  test("an agent's thoughts are kept, each as it was last, and what replaces its answer", () => {
    const thought = { event: 'agent_thought', id: 'a', ...ids, thought: '', tool: 'search' }
    const stream = sse(
      thought,
      { event: 'agent_message', ...ids, answer: 'Bad words' },
      { ...thought, observation: 'found it' },
      { event: 'message_replace', ...ids, answer: 'That is not allowed.' },
    )
    expect(assembleStream(stream)).toMatchObject({
      ended: false,
      body: {
        answer: 'That is not allowed.',
        agent_thoughts: [{ tool: 'search', observation: 'found it' }],
      },
    })
  })

  test('a workflow is what it finished with, and its words until then', () => {
    const chunks = [
      { event: 'text_chunk', task_id: 't', workflow_run_id: 'w', data: { text: 'Par' } },
      { event: 'text_chunk', task_id: 't', workflow_run_id: 'w', data: { text: 'is' } },
    ]
    const data = { status: 'succeeded', outputs: { text: 'Paris' }, total_tokens: 9 }
    expect(assembleStream(sse(...chunks))).toEqual({ ended: false, body: { text: 'Paris' } })
    const finished = { event: 'workflow_finished', task_id: 't', workflow_run_id: 'w', data }
    expect(assembleStream(sse(...chunks, finished))).toEqual({
      ended: true,
      body: { task_id: 't', workflow_run_id: 'w', data },
    })
  })

  test('what went wrong is said', () => {
    const error = {
      event: 'error',
      ...ids,
      status: 400,
      code: 'provider_quota_exceeded',
      message: 'No quota.',
    }
    const assembled = assembleStream(sse(error))
    expect(assembled?.ended).toBe(true)
    expect(errorOfAnswer(assembled?.body)).toBe('No quota.')
  })
})
