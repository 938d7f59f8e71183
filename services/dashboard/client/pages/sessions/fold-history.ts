import type { Block } from '../request/read-blocks.ts'
import type { Turn } from '../request/read-conversation.ts'

/** The turns of one call of a session. */
export interface FoldedCall {
  /** History that earlier calls of the session have shown. */
  repeated: readonly Turn[]
  fresh: readonly Turn[]
}

/**
 * Separates the new messages of a call from the history: agents send all messages again with each
 * call. What follows the model's last words in a request is new even if somebody said it before, except
 * results of tools that were recorded as calls of their own.
 */
export function foldHistory(calls: readonly (readonly Turn[])[]): FoldedCall[] {
  const seen = new Set<string>()
  const results = new Set<string>()
  return calls.map((turns) => {
    const lastSaid = turns.findLastIndex(({ speaker, isAnswer }) => speaker === 'assistant' && !isAnswer)
    const isRepeated = (turn: Turn, index: number) => {
      if (turn.isAnswer || isToolRecord(turns)) return false
      if (turn.speaker === 'tool' && textsOf(turn).every((text) => results.has(text))) return true
      return (index <= lastSaid || turn.speaker === 'system') && seen.has(keyOf(turn))
    }
    const repeated = turns.filter(isRepeated)
    const fresh = turns.filter((turn) => !repeated.includes(turn))
    for (const turn of turns) seen.add(keyOf(turn))
    if (isToolRecord(turns))
      for (const turn of turns) if (turn.isAnswer) for (const text of textsOf(turn)) results.add(text)
    return { repeated, fresh }
  })
}

/** The record of a tool's call: the answer is the tool's. */
function isToolRecord(turns: readonly Turn[]): boolean {
  return turns.some(({ speaker, isAnswer }) => isAnswer && speaker === 'tool') && turns.length <= 2
}

function textsOf({ blocks }: Turn): string[] {
  return blocks.flatMap((block) => (block.kind === 'text' ? [summaryOf(block.passage.text)] : []))
}

function keyOf({ speaker, blocks }: Turn): string {
  return `${speaker} ${blocks.map(summaryOfBlock).join(' ')}`
}

function summaryOfBlock(block: Block): string {
  if (block.kind === 'text') return summaryOf(block.passage.text)
  if (block.kind === 'placeholder') return `${block.what} ${block.detail}`
  return `${block.name}(${block.given.map(summaryOfBlock).join(' ')})`
}

/** Units at either end that tell long texts apart. */
const end = 300

/** Short for a long text: a session repeats megabytes. */
function summaryOf(text: string): string {
  return text.length <= 2 * end ? text : `${text.slice(0, end)} ${text.length} ${text.slice(-end)}`
}
