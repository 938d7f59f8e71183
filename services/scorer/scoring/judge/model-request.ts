import type { GuardPrompt } from './guard-prompt.ts'
import type { JudgePrompt } from './judge-prompt.ts'

/** What a judge is asked with, by its kind. */
export type ModelPrompt = JudgePrompt | GuardPrompt

/** The model request. Shared with evals, so that they measure the same judge. */
export function judgeRequest(model: string, prompt: ModelPrompt) {
  const common = { model, temperature: 0, max_completion_tokens: prompt.answerTokens }
  if ('messages' in prompt) return { ...common, messages: [...prompt.messages] }
  const { system, user, schema } = prompt
  return {
    ...common,
    messages: [
      { role: 'system' as const, content: system },
      { role: 'user' as const, content: user },
    ],
    response_format: {
      type: 'json_schema' as const,
      json_schema: { name: 'grades', strict: true, schema },
    },
  }
}
