/** The conversation so far: the user's turns and the answers to all but the last. */
export interface Conversation {
  /** One for the whole attempt, passed to targets that keep conversations. */
  session: string
  system: string | null
  context: string | null
  tools: readonly string[]
  said: readonly { role: 'user' | 'assistant'; text: string }[]
}

/** Headers that identify a request with that body. */
export type MakeMarks = (conversation: Conversation, body: string) => Readonly<Record<string, string>>

/** The result of one exchange. Bodies are as recorded. */
export type TargetAnswer =
  | {
      kind: 'answered'
      requestBody: object
      responseBody: object
      /** Empty for an answer without words, for instance only tool calls. */
      text: string
      statusCode: number | null
      latencyMs: number
    }
  /** Turned away before any work: may be sent again after that time. */
  | { kind: 'busy'; retryAfterMs: number }
  /** Nothing reached it. */
  | { kind: 'unreached'; error: string }
  | {
      kind: 'failed'
      requestBody: object
      responseBody: object | null
      statusCode: number | null
      latencyMs: number
      error: string
    }

export interface Target {
  /** Sends the last turn of a conversation. Never rejects for the target's behaviour. */
  ask(conversation: Conversation): Promise<TargetAnswer>
  /** Whether it takes a system prompt, passages and tools, not only the user's words. */
  takesSurroundings: boolean
  close(): Promise<void>
}

/** Maximum read of one answer. */
export const maxAnswerBytes = 4 * 1024 * 1024
