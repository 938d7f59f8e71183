import { describe, expect, test } from '@jest/globals'
import { assembleStream } from './assemble-stream.ts'

const named = (...chunks: { type: string }[]) =>
  chunks.map((chunk) => `event: ${chunk.type}\ndata: ${JSON.stringify(chunk)}\n\n`).join('')

describe('responses', () => {
  const created = {
    type: 'response.created',
    response: { id: 'r', object: 'response', status: 'in_progress', output: [] },
  }
  const added = {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'message', content: [] },
  }
  const text = (delta: string) => ({
    type: 'response.output_text.delta',
    output_index: 0,
    content_index: 0,
    delta,
  })

  test('the last event is the answer', () => {
    const whole = {
      id: 'r',
      object: 'response',
      status: 'completed',
      output: [{ type: 'message' }],
      usage: { input_tokens: 1 },
    }
    const stream = named(created, added, text('x'), { type: 'response.completed', response: whole } as {
      type: string
    })
    expect(assembleStream(stream)).toEqual({ ended: true, body: whole })
  })

  test('of one that breaks off in its thoughts, what they were till there', () => {
    const reasoning = {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'reasoning', summary: [] },
    }
    const summary = (summary_index: number, delta: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index,
      delta,
    })
    const thought = { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'hm' }
    expect(
      assembleStream(
        named(created, reasoning, summary(0, 'First '), summary(0, 'this.'), summary(1, 'Then'), thought),
      ),
    ).toMatchObject({
      ended: false,
      body: {
        output: [
          {
            type: 'reasoning',
            summary: [
              { type: 'summary_text', text: 'First this.' },
              { type: 'summary_text', text: 'Then' },
            ],
            content: [{ type: 'reasoning_text', text: 'hm' }],
          },
        ],
      },
    })
  })

  test('where the last event holds no items, those that came', () => {
    const bare = { id: 'r', object: 'response', status: 'completed', output: [] }
    const completed = { type: 'response.completed', response: bare }
    expect(assembleStream(named(created, added, text('x'), completed))).toEqual({
      ended: true,
      body: { ...bare, output: [{ type: 'message', content: [{ type: 'output_text', text: 'x' }] }] },
    })
  })

  test.each([{ message: 'overloaded' }, { error: { message: 'overloaded' } }])(
    'the error that ends it, in either form, and what came before',
    (error) => {
      expect(assembleStream(named(created, added, text('x'), { type: 'error', ...error }))).toMatchObject({
        ended: true,
        body: {
          error: { message: 'overloaded' },
          output: [{ content: [{ type: 'output_text', text: 'x' }] }],
        },
      })
    },
  )

  test('cut off: what came', () => {
    const item = (index: number, fields: object) => ({
      type: 'response.output_item.added',
      output_index: index,
      item: fields,
    })
    const call = item(1, { type: 'function_call', name: 'f', arguments: '' })
    const run = item(2, { type: 'code_interpreter_call', code: null })
    const code = { type: 'response.code_interpreter_call_code.delta', output_index: 2, delta: 'print(' }
    const args = { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a"' }
    expect(assembleStream(named(created, added, text('He'), text('y'), call, args, run, code))).toEqual({
      ended: false,
      body: {
        id: 'r',
        object: 'response',
        status: 'in_progress',
        output: [
          { type: 'message', content: [{ type: 'output_text', text: 'Hey' }] },
          { type: 'function_call', name: 'f', arguments: '{"a"' },
          { type: 'code_interpreter_call', code: 'print(' },
        ],
      },
    })
  })
})
