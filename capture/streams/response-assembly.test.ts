import { describe, expect, test } from '@jest/globals'
import { assembleStream, recordedMessage } from './assemble-stream.ts'

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

  const began = (item: object, index = 0) => ({
    type: 'response.output_item.added',
    output_index: index,
    item,
  })
  const says = (kind: string, said: object, index: number | undefined = 0) => ({
    type: `response.${kind}`,
    ...(index === -1 ? {} : { output_index: index }),
    ...said,
  })
  const patch = { type: 'apply_patch_call', operation: { type: 'update_file', path: 'a', diff: '' } }

  test.each<[string, { type: string }[], unknown]>([
    [
      'a patch',
      [
        began(patch),
        says('apply_patch_call_operation_diff.delta', { delta: '@@\n-a' }),
        says('apply_patch_call_operation_diff.delta', { delta: '\n+b' }),
      ],
      [{ ...patch, operation: { ...patch.operation, diff: '@@\n-a\n+b' } }],
    ],
    [
      'commands of a shell',
      [
        began({ type: 'shell_call', action: { commands: [] } }),
        says('shell_call_command.added', { command_index: 0, command: '' }),
        says('shell_call_command.delta', { command_index: 0, delta: 'rm -rf' }),
        says('shell_call_command.delta', { command_index: 0, delta: ' /' }),
        says('shell_call_command.delta', { command_index: 1, delta: 'l' }),
        says('shell_call_command.done', { command_index: 1, command: 'ls' }),
        says('shell_call_output_content.delta', { command_index: 0, delta: { stdout: 'gone' } }),
      ],
      [
        {
          type: 'shell_call',
          action: { commands: ['rm -rf /', 'ls'] },
          shell_call_output_content: { stdout: 'gone' },
        },
      ],
    ],
    [
      'what is heard, of no item',
      [
        says('audio.transcript.delta', { delta: 'Good ' }, -1),
        says('audio.transcript.delta', { delta: 'day' }, -1),
        says('audio.delta', { delta: 'AAAA' }, -1),
      ],
      [{ type: 'message', content: [{ type: 'output_audio', transcript: 'Good day' }] }],
    ],
    [
      'what is heard behind a call',
      [
        began({ type: 'function_call', name: 'f', arguments: '{}' }),
        says('output_audio_transcript.delta', { delta: 'Hi' }, -1),
      ],
      [
        { type: 'function_call', name: 'f', arguments: '{}' },
        { type: 'message', content: [{ transcript: 'Hi' }] },
      ],
    ],
    [
      'items of which nothing but deltas came',
      [
        says('custom_tool_call_input.delta', { delta: 'rm' }),
        says('mcp_call.arguments.delta', { delta: '{"a' }, 1),
        says('code_interpreter_call.code.delta', { delta: 'x=' }, 2),
        says('refusal.delta', { delta: 'No' }, 3),
      ],
      [
        { type: 'custom_tool_call', input: 'rm' },
        { type: 'mcp_call', arguments: '{"a' },
        { type: 'code_interpreter_call', code: 'x=' },
        { type: 'message', content: [{ type: 'refusal', refusal: 'No' }] },
      ],
    ],
    [
      'texts that came whole without deltas',
      [
        began({ type: 'function_call', name: 'f', arguments: '' }),
        says('function_call_arguments.done', { arguments: '{"a":1}' }),
        says('output_text.done', { text: 'Hi' }, 1),
      ],
      [{ name: 'f', arguments: '{"a":1}' }, { content: [{ type: 'output_text', text: 'Hi' }] }],
    ],
    [
      'deltas of a kind that is not known',
      [
        began({ type: 'robot_call' }),
        says('robot_call_orders.delta', { delta: 'go ' }),
        says('robot_call_orders.delta', { delta: 'left' }),
      ],
      [{ type: 'robot_call', robot_call_orders: 'go left' }],
    ],
  ])('cut off: what came of %s', (_name, events, output) => {
    const assembled = assembleStream(named(created, ...events))
    expect(assembled).toMatchObject({ ended: false, body: { output } })
    expect(assembled && recordedMessage(assembled)).toMatchObject({ truncated: true })
    // The same for a stream that does not repeat everything at its end.
    const completed = { type: 'response.completed', response: { id: 'r', object: 'response', output: [] } }
    expect(assembleStream(named(created, ...events, completed))).toMatchObject({
      ended: true,
      body: { output },
    })
  })
})
