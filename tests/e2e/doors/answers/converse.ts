import { converseEvent } from '../../../support/amazon-event.ts'
import { tool, toolCall, toolResult, usualTokens, type Turn } from '../conversations.ts'
import { halves, type Protocol } from '../protocol.ts'

const call = { toolUse: { toolUseId: toolCall.id, name: toolCall.name, input: toolCall.arguments } }

/** Bytes in base64: the client wants bytes, and sends base64. */
function messageOf(turn: Turn): object {
  if (turn.by === 'tool')
    return {
      role: 'user',
      content: [{ toolResult: { toolUseId: toolCall.id, content: [{ text: toolResult }] } }],
    }
  if (turn.by === 'model')
    return { role: 'assistant', content: [turn.callsTool === true ? call : { text: turn.text }] }
  const image = { format: 'png', source: { bytes: turn.image ?? '' } }
  return { role: 'user', content: [{ text: turn.text }, ...(turn.image === undefined ? [] : [{ image }])] }
}

/** Bedrock's converse. */
export const converse: Protocol = {
  isAt: (path) => /\/converse(-stream)?$/.test(path),
  request: ({ system, turns, hasTool }) => {
    const { name, description, parameters } = tool
    const toolSpec = { name, description, inputSchema: { json: parameters } }
    return {
      modelId: 'eu.amazon.nova-lite-v1:0',
      messages: turns.map(messageOf),
      inferenceConfig: { temperature: 0.5 },
      ...(system !== undefined && { system: [{ text: system }] }),
      ...(hasTool === true && { toolConfig: { tools: [{ toolSpec }] } }),
    }
  },
  answer: ({ answer }) => {
    const { text = '', thought, callsTool, tokens = usualTokens } = answer
    const usage = {
      inputTokens: tokens.prompt - tokens.cached,
      outputTokens: tokens.completion,
      totalTokens: tokens.prompt + tokens.completion,
      ...(tokens.cached > 0 && { cacheReadInputTokens: tokens.cached, cacheWriteInputTokens: 0 }),
    }
    const thoughts = thought === undefined ? [] : [{ reasoningContent: { reasoningText: { text: thought } } }]
    const stopReason = callsTool === true ? 'tool_use' : 'end_turn'
    const at = { contentBlockIndex: 0 }
    const { input: _, ...start } = call.toolUse
    return {
      whole: {
        output: {
          message: { role: 'assistant', content: [...thoughts, callsTool === true ? call : { text }] },
        },
        stopReason,
        usage,
        metrics: { latencyMs: 1 },
      },
      events: [
        converseEvent('messageStart', { role: 'assistant' }),
        ...(callsTool === true
          ? [
              converseEvent('contentBlockStart', { ...at, start: { toolUse: start } }),
              ...halves(JSON.stringify(toolCall.arguments)).map((input) =>
                converseEvent('contentBlockDelta', { ...at, delta: { toolUse: { input } } }),
              ),
            ]
          : halves(text).map((piece) =>
              converseEvent('contentBlockDelta', { ...at, delta: { text: piece } }),
            )),
        converseEvent('contentBlockStop', at),
        converseEvent('messageStop', { stopReason }),
        converseEvent('metadata', { usage, metrics: { latencyMs: 1 } }),
      ],
    }
  },
}
