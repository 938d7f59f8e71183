import { guards } from './guard-categories.ts'
import type { GuardPrompt } from './guard-prompt.ts'
import type { GuardKind } from './judge-kinds.ts'
import type { Side } from './rubric.ts'

/** A guard's opinion of the last message. Categories are those of its list, never free text. */
export interface GuardAnswer {
  grade: 'safe' | 'controversial' | 'unsafe'
  categories: readonly string[]
}

const grades = { Safe: 'safe', Controversial: 'controversial', Unsafe: 'unsafe' } as const

/**
 * Two lines about a request, three about an answer. The third one also shows that the server's template
 * passed the answer on: without it, the model judged something else.
 */
const qwenFormat: Readonly<Record<Side, RegExp>> = {
  request: /^Safety: (Safe|Controversial|Unsafe)\nCategories: (.+)$/,
  answer: /^Safety: (Safe|Controversial|Unsafe)\nCategories: (.+)\nRefusal: (?:Yes|No)$/,
}

const llamaFormat = /^(safe)$|^unsafe\n(S[\dS, ]+)$/

/**
 * Reads a guard's answer about one side. Undefined unless it has exactly the published format, names known
 * categories only, and does not contradict itself: "safe" with a category, "unsafe" without. Nothing is
 * guessed.
 */
export function readGuardAnswer(kind: GuardKind, side: Side, text: string): GuardAnswer | undefined {
  const lines = text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .join('\n')
  const answer = kind === 'qwen3guard' ? readQwen(side, lines) : readLlama(lines)
  if (answer === undefined) return undefined
  const known = guards[kind].categories[side]
  const isKnown = answer.categories.every((category) => known.includes(category))
  return isKnown && (answer.grade === 'safe') === (answer.categories.length === 0) ? answer : undefined
}

/**
 * Reads what a server replied to a prompt. Some servers continue a last message of the assistant instead of
 * answering (llama.cpp without `--no-prefill-assistant`): then the recording speaks for the guard.
 */
export function readGuardReply(
  kind: GuardKind,
  side: Side,
  { messages }: GuardPrompt,
  text: string,
): GuardAnswer | undefined {
  const judged = messages.at(-1)
  const isContinued = judged?.role === 'assistant' && text.trim().startsWith(judged.content.trim())
  return isContinued ? undefined : readGuardAnswer(kind, side, text)
}

function readQwen(side: Side, lines: string): GuardAnswer | undefined {
  const [, safety, listed] = qwenFormat[side].exec(lines) ?? []
  if (safety === undefined || listed === undefined) return undefined
  return {
    grade: grades[safety as keyof typeof grades],
    categories: listed === 'None' ? [] : namesIn(listed),
  }
}

function readLlama(lines: string): GuardAnswer | undefined {
  const [whole, safe, listed] = llamaFormat.exec(lines) ?? []
  if (whole === undefined) return undefined
  return safe === undefined
    ? { grade: 'unsafe', categories: namesIn(listed ?? '') }
    : { grade: 'safe', categories: [] }
}

function namesIn(listed: string): string[] {
  return [...new Set(listed.split(',').map((name) => name.trim()))]
}
