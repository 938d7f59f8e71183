import type { Conversation } from './conversations.ts'

/** How requests and answers of a provider's interface look. */
export interface Protocol {
  /** Whether a call to this path is one. */
  isAt(path: string): boolean
  /** The arguments of the client, as JSON. */
  request(conversation: Conversation): object
  answer(conversation: Conversation, asked: Asked): Answer
}

/** What an answer repeats of the request. */
export interface Asked {
  model: string
  hasUsage: boolean
  /** How many answers it wants. */
  choices: number
}

export interface Answer {
  whole: object
  events: readonly (object | Buffer | string)[]
}

/** Two pieces, as a stream sends them. */
export function halves(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}
