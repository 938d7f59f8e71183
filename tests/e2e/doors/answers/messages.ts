import { tool, toolCall, toolResult, usualTokens, type Conversation, type Turn } from '../conversations.ts'
import { halves, type Protocol } from '../protocol.ts'

const call = { type: 'tool_use', id: toolCall.id, name: toolCall.name, input: toolCall.arguments }

function messageOf(turn: Turn): object {
  if (turn.by === 'tool')
    return {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: toolCall.id, content: toolResult }],
    }
  if (turn.by === 'model') return { role: 'assistant', content: turn.callsTool === true ? [call] : turn.text }
  const source = { type: 'base64', media_type: 'image/png', data: turn.image ?? '' }
  const content = [
    { type: 'text', text: turn.text },
    { type: 'image', source },
  ]
  return { role: 'user', content: turn.image === undefined ? turn.text : content }
}

/** What is cached is not part of the input. Thoughts are not counted apart. */
function usageOf({ tokens = usualTokens }: Conversation['answer']) {
  return {
    input_tokens: tokens.prompt - tokens.cached,
    output_tokens: tokens.completion,
    cache_read_input_tokens: tokens.cached,
    cache_creation_input_tokens: 0,
  }
}

/** Anthropic's messages. */
export const messages: Protocol = {
  isAt: (path) => path.endsWith('/v1/messages'),
  request: ({ system, turns, hasTool, isStream, answer }) => {
    const { name, description, parameters } = tool
    return {
      model: 'claude-sonnet-4-5',
      max_tokens: 2_000,
      messages: turns.map(messageOf),
      ...(system !== undefined && { system }),
      ...(hasTool === true && { tools: [{ name, description, input_schema: parameters }] }),
      ...(isStream === true && { stream: true }),
      ...(answer.thought !== undefined && { thinking: { type: 'enabled', budget_tokens: 1_024 } }),
    }
  },
  answer: ({ name, answer }, { model }) => {
    const { text, thought, callsTool } = answer
    const usage = usageOf(answer)
    const message = {
      id: `msg_${name.replaceAll(/\W/g, '')}`,
      type: 'message',
      role: 'assistant',
      model,
      stop_sequence: null,
    }
    const stop_reason = callsTool === true ? 'tool_use' : 'end_turn'
    const content = [
      ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: 'c2ln' }]),
      callsTool === true ? call : { type: 'text', text },
    ]
    const delta = (piece: object) => ({ type: 'content_block_delta', index: 0, delta: piece })
    const pieces =
      callsTool === true
        ? halves(JSON.stringify(call.input)).map((partial_json) => ({
            type: 'input_json_delta',
            partial_json,
          }))
        : halves(text ?? '').map((piece) => ({ type: 'text_delta', text: piece }))
    return {
      whole: { ...message, content, stop_reason, usage },
      events: [
        {
          type: 'message_start',
          message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
        },
        {
          type: 'content_block_start',
          index: 0,
          content_block: callsTool === true ? { ...call, input: {} } : { type: 'text', text: '' },
        },
        ...pieces.map(delta),
        { type: 'content_block_stop', index: 0 },
        {
          type: 'message_delta',
          delta: { stop_reason, stop_sequence: null },
          usage: { output_tokens: usage.output_tokens },
        },
        { type: 'message_stop' },
      ],
    }
  },
}
