import type { Block } from '../read-blocks.ts'
import { readConversation } from '../read-conversation.ts'

/** A conversation for comparison in tests, one line per turn. */
export function shown(request: unknown, response: unknown, status?: number): string[] {
  return readConversation(request, response, status).map(
    ({ speaker, blocks, isAnswer }) => `${speaker}${isAnswer ? '!' : ''}: ${blocks.map(line).join(' | ')}`,
  )
}

function line(block: Block): string {
  if (block.kind === 'text') return `${block.note === undefined ? '' : `${block.note}=`}${block.passage.text}`
  if (block.kind === 'placeholder') return `[${block.what} ${block.detail}]`
  return `${block.name}(${block.given.map(line).join(', ')})`
}
