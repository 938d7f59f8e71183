import { tool, toolCall, toolResult, usualTokens, type Turn } from '../conversations.ts'
import { halves, type Protocol } from '../protocol.ts'

const call = { functionCall: { name: toolCall.name, args: toolCall.arguments } }

function contentOf(turn: Turn): object {
  if (turn.by === 'tool')
    return {
      role: 'user',
      parts: [{ functionResponse: { name: toolCall.name, response: { output: toolResult } } }],
    }
  if (turn.by === 'model')
    return { role: 'model', parts: [turn.callsTool === true ? call : { text: turn.text }] }
  const inlineData = { mimeType: 'image/png', data: turn.image ?? '' }
  return { role: 'user', parts: [{ text: turn.text }, ...(turn.image === undefined ? [] : [{ inlineData }])] }
}

/** Google's generateContent. The arguments are those of google-genai; `config` becomes parts of the body. */
export const candidates: Protocol = {
  isAt: (path) => /:(generate|streamGenerate)Content$/.test(path),
  request: ({ system, turns, hasTool, answer }) => ({
    model: 'gemini-2.5-flash',
    contents: turns.map(contentOf),
    config: {
      temperature: 0.5,
      ...(system !== undefined && { systemInstruction: system }),
      ...(hasTool === true && { tools: [{ functionDeclarations: [tool] }] }),
      ...(answer.other !== undefined && { candidateCount: 2 }),
    },
  }),
  answer: ({ answer }, { model }) => {
    const { text = '', other, thought, callsTool, tokens = usualTokens } = answer
    const usageMetadata = {
      promptTokenCount: tokens.prompt,
      candidatesTokenCount: tokens.completion - tokens.reasoning,
      totalTokenCount: tokens.prompt + tokens.completion,
      ...(tokens.cached > 0 && { cachedContentTokenCount: tokens.cached }),
      ...(tokens.reasoning > 0 && { thoughtsTokenCount: tokens.reasoning }),
    }
    const said = (parts: object[], index = 0) => ({ content: { role: 'model', parts }, index })
    const thoughts = thought === undefined ? [] : [{ text: thought, thought: true }]
    const finishReason = 'STOP'
    const pieces: object[] = callsTool === true ? [call] : halves(text).map((piece) => ({ text: piece }))
    return {
      whole: {
        candidates: [
          { ...said([...thoughts, callsTool === true ? call : { text }]), finishReason },
          ...(other === undefined ? [] : [{ ...said([{ text: other }], 1), finishReason }]),
        ],
        modelVersion: `${model}-001`,
        usageMetadata,
      },
      events: pieces.map((piece, at) => ({
        candidates: [{ ...said([piece]), ...(at === pieces.length - 1 && { finishReason }) }],
        modelVersion: `${model}-001`,
        usageMetadata,
      })),
    }
  },
}
