/** What is said to a target so far: the user's turns and the answers to all but the last. */
export interface Conversation {
  /** One for the whole attempt; targets that keep conversations are told it. */
  session: string
  system: string | null
  context: string | null
  tools: readonly string[]
  said: readonly { role: 'user' | 'assistant'; text: string }[]
}

/** Headers that say what a request with that body is. */
export type MakeMarks = (conversation: Conversation, body: string) => Readonly<Record<string, string>>

/** What became of one exchange. Bodies are as they are recorded. */
export type TargetAnswer =
  | {
      kind: 'answered'
      requestBody: object
      responseBody: object
      /** Empty where the answer has no words, for instance only calls of tools. */
      text: string
      statusCode: number | null
      latencyMs: number
    }
  /** Turned away before it was worked on: may be asked again after that. */
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
  /** Says the last turn of a conversation. Never rejects for what the target does. */
  ask(conversation: Conversation): Promise<TargetAnswer>
  /** It takes a system prompt, passages and tools with the conversation; others only what a user says. */
  takesSurroundings: boolean
  close(): Promise<void>
}

/** Read at most of one answer. */
export const maxAnswerBytes = 4 * 1024 * 1024
