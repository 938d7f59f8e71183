import { tool, toolCall, toolResult, usualTokens, type Conversation, type Turn } from '../conversations.ts'
import { halves, type Protocol } from '../protocol.ts'

const call = {
  id: toolCall.id,
  type: 'function',
  function: { name: toolCall.name, arguments: JSON.stringify(toolCall.arguments) },
}

function messageOf(turn: Turn): object {
  if (turn.by === 'tool') return { role: 'tool', tool_call_id: toolCall.id, content: toolResult }
  if (turn.by === 'model')
    return turn.callsTool === true
      ? { role: 'assistant', content: '', tool_calls: [call] }
      : { role: 'assistant', content: turn.text }
  const url = `data:image/png;base64,${turn.image ?? ''}`
  const content = [
    { type: 'text', text: turn.text },
    { type: 'image_url', image_url: { url } },
  ]
  return { role: 'user', content: turn.image === undefined ? turn.text : content }
}

function usageOf({ tokens = usualTokens }: Conversation['answer']) {
  const { prompt, cached, completion, reasoning } = tokens
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

/** OpenAI's chat completions, which Mistral and frameworks speak too. */
export const chat: Protocol = {
  isAt: (path) => path.endsWith('/chat/completions'),
  request: ({ system, turns, hasTool, isStream, answer }) => ({
    model: 'gpt-4.1-mini',
    temperature: 0.5,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      ...turns.map(messageOf),
    ],
    ...(hasTool === true && { tools: [{ type: 'function', function: tool }] }),
    ...(isStream === true && { stream: true, stream_options: { include_usage: true } }),
    ...(answer.other !== undefined && { n: 2 }),
  }),
  answer: ({ name, answer }, { model, hasUsage, choices: wanted }) => {
    const { text = null, other, thought, callsTool } = answer
    const common = { id: `chatcmpl-${name.replaceAll(/\W/g, '')}`, created: 1_790_000_000, model }
    const finish_reason = callsTool === true ? 'tool_calls' : 'stop'
    const message = {
      role: 'assistant',
      content: text,
      ...(thought !== undefined && { reasoning_content: thought }),
      ...(callsTool === true && { tool_calls: [call] }),
    }
    const others = other === undefined || wanted < 2 ? [] : [{ ...message, content: other }]
    const deltas =
      callsTool === true
        ? toolDeltas(model)
        : halves(text ?? '').map((content, at) => ({ ...(at === 0 && { role: 'assistant' }), content }))
    const chunk = (fields: object) => ({ ...common, object: 'chat.completion.chunk', ...fields })
    const choice = (delta: object, reason: string | null) => [{ index: 0, delta, finish_reason: reason }]
    return {
      whole: {
        ...common,
        object: 'chat.completion',
        choices: [message, ...others].map((said, index) => ({ index, message: said, finish_reason })),
        usage: usageOf(answer),
      },
      events: [
        ...deltas.map((delta) => chunk({ choices: choice(delta, null) })),
        chunk({ choices: choice({}, finish_reason) }),
        ...(hasUsage ? [chunk({ choices: [], usage: usageOf(answer) })] : []),
        '[DONE]',
      ],
    }
  },
}

/** Mistral sends a call whole. */
function toolDeltas(model: string): object[] {
  const [first, second] = model.startsWith('mistral')
    ? [call.function.arguments]
    : halves(call.function.arguments)
  const begun = { index: 0, ...call, function: { ...call.function, arguments: first } }
  const more = { tool_calls: [{ index: 0, function: { arguments: second } }] }
  return [{ role: 'assistant', content: null, tool_calls: [begun] }, ...(second === undefined ? [] : [more])]
}
