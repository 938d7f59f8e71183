import type { SpokenText } from '#capture/request-messages.ts'
import { guards } from './guard-categories.ts'
import type { JudgeMaterial } from './judge-prompt.ts'
import type { GuardKind } from './judge-kinds.ts'
import type { Side } from './rubric.ts'

/** A conversation for a guard, which judges its last message. The server's chat template adds the policy. */
export interface GuardPrompt {
  messages: readonly GuardMessage[]
  /** Token limit of the answer, which stops an endless one. */
  answerTokens: number
}

interface GuardMessage {
  role: 'user' | 'assistant'
  content: string
}

/** The longest valid answer names nine categories: about 60 tokens. */
const answerTokens = 128

/**
 * The conversation up to the side that is judged. The last message of the user has the whole request, so that
 * nothing of it is only context. Roles alternate and begin with the user, as templates of guards demand.
 */
export function makeGuardPrompt(side: Side, { request, answer, turns }: JudgeMaterial): GuardPrompt {
  const earlier = alternating(turns.slice(0, turns.findLastIndex(({ role }) => role === 'assistant') + 1))
  const asked = said('user', request)
  const messages = side === 'request' ? [asked] : [asked, said('assistant', answer)]
  return { messages: [...earlier, ...messages], answerTokens }
}

/** Consecutive turns of one speaker become one. Ends with the assistant, or is empty. */
function alternating(turns: readonly SpokenText[]): GuardMessage[] {
  const messages: GuardMessage[] = []
  for (const { role, text } of turns) {
    const speaker = role === 'assistant' ? 'assistant' : 'user'
    const last = messages.at(-1)
    if (last?.role === speaker) last.content += `\n${withoutControls(text)}`
    else messages.push(said(speaker, text))
  }
  return messages[0]?.role === 'assistant' ? [{ role: 'user', content: '…' }, ...messages] : messages
}

/** Templates refuse or drop empty messages. */
function said(role: GuardMessage['role'], text: string): GuardMessage {
  return { role, content: text.trim() === '' ? '…' : withoutControls(text) }
}

/**
 * Marks by which chat templates and guards' prompts tell where a message ends. Servers read them in a
 * message's text as if the template had written them.
 */
const controls =
  /<(?=[|｜])|<(?=\/?(?:s|think|bos|eos|start_of_turn|end_of_turn|BEGIN [A-Z ]+|END [A-Z ]+)>)|<(?=<\/?SYS>>)|\[(?=\/?INST\])/gi

/** The text with a space in each such mark, which makes it plain text again. */
export function withoutControls(text: string): string {
  return text.replace(controls, '$& ')
}

/** Lines that only a guard writes, or its prompt has. */
const guardsOwnLines =
  /^\W*(?:safety:\s*(?:safe|controversial)|categories:\s*none|refusal:\s*(?:yes|no)|safe)\W*$|safety assessment for only the last/im

/**
 * Whether a text plays the guard's part: it holds the guard's verdict, or marks of its template. A guard has
 * no check word as the JSON judge has, so its "safe" about such a text is not accepted.
 */
export function playsGuard(text: string): boolean {
  return guardsOwnLines.test(text) || withoutControls(text) !== text
}

/** A text in other scripts than a guard's languages have, from a twentieth of its letters on. */
export function isInForeignScript(kind: GuardKind, text: string): boolean {
  const { scripts } = guards[kind]
  if (scripts === null) return false
  const known = new RegExp(`[${scripts.map((script) => `\\p{Script=${script}}`).join('')}]`, 'u')
  const letters = text.match(/\p{L}/gu) ?? []
  const foreign = letters.filter((letter) => !known.test(letter)).length
  return foreign * 20 > letters.length
}
