import { toolCall, usualTokens } from '../conversations.ts'
import { halves, type Protocol } from '../protocol.ts'
import { chat } from './chat.ts'

const call = {
  id: toolCall.id,
  type: 'function',
  function: { name: toolCall.name, arguments: JSON.stringify(toolCall.arguments) },
}

/** Cohere's chat, whose requests are those of chat completions but for the model, choices and usage. */
export const cohere: Protocol = {
  isAt: (path) => path.endsWith('/v2/chat'),
  request: (conversation) => {
    const { answer: _, isStream: __, ...same } = conversation
    return {
      ...chat.request({ ...same, answer: {} }),
      model: 'command-a-03-2025',
    }
  },
  answer: ({ name, answer }) => {
    const { text = '', thought, callsTool, tokens = usualTokens } = answer
    const counts = { input_tokens: tokens.prompt, output_tokens: tokens.completion }
    const usage = {
      tokens: counts,
      billed_units: counts,
      ...(tokens.cached > 0 && { cached_tokens: tokens.cached }),
    }
    const id = `c-${name}`
    const finish_reason = callsTool === true ? 'TOOL_CALL' : 'COMPLETE'
    const thoughts = thought === undefined ? [] : [{ type: 'thinking', thinking: thought }]
    const message =
      callsTool === true
        ? { role: 'assistant', tool_calls: [call] }
        : { role: 'assistant', content: [...thoughts, { type: 'text', text }] }
    const content = (type: string, fields: object) => ({
      type,
      index: 0,
      delta: { message: { content: fields } },
    })
    const [first, second] = halves(call.function.arguments)
    const called = (type: string, tool_calls: object) => ({
      type,
      index: 0,
      delta: { message: { tool_calls } },
    })
    return {
      whole: { id, finish_reason, message, usage },
      events: [
        {
          type: 'message-start',
          id,
          delta: {
            message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] },
          },
        },
        ...(callsTool === true
          ? [
              called('tool-call-start', { ...call, function: { ...call.function, arguments: '' } }),
              called('tool-call-delta', { function: { arguments: first } }),
              called('tool-call-delta', { function: { arguments: second } }),
              { type: 'tool-call-end', index: 0 },
            ]
          : [
              content('content-start', { type: 'text', text: '' }),
              ...halves(text).map((piece) => content('content-delta', { text: piece })),
              { type: 'content-end', index: 0 },
            ]),
        { type: 'message-end', id, delta: { finish_reason, usage } },
      ],
    }
  },
}
