import type { BodyPart } from './body-place.ts'
import type { Evidence } from './mark-evidence.ts'
import type { Block, Passage } from './read-blocks.ts'
import type { Turn } from './read-conversation.ts'

/** Maximum number of such texts; the raw JSON has the rest. */
const maxElsewhere = 100

/**
 * Texts with evidence that no turn shows, such as tool descriptions and addresses. Evidence without a text is
 * left out.
 */
export function findElsewhere(
  bodies: Readonly<Record<BodyPart, unknown>>,
  turns: readonly Turn[],
  evidence: readonly Evidence[],
): Passage[] {
  const seen = new Set(turns.flatMap(({ blocks }) => blocks.flatMap(passagesOf)).map(placeOf))
  const found: Passage[] = []
  for (const { part, pointer } of evidence) {
    if (found.length === maxElsewhere) break
    if (pointer === null || !(part === 'request_body' || part === 'response_body')) continue
    const text = textOf(valueAt(bodies[part], pointer))
    const place = placeOf({ part, pointer })
    if (text === undefined || seen.has(place)) continue
    seen.add(place)
    found.push({ part, pointer, text })
  }
  return found
}

/** A model's words in chunks are one text, as scorers read them. */
function textOf(value: unknown): string | undefined {
  if (Array.isArray(value) && value.every((piece) => typeof piece === 'string')) return value.join('')
  return typeof value === 'string' ? value : undefined
}

function placeOf({ part, pointer }: Pick<Passage, 'part' | 'pointer'>): string {
  return `${part} ${pointer}`
}

function passagesOf(block: Block): Passage[] {
  if (block.kind === 'text') return [block.passage]
  return block.kind === 'tool_call' ? block.given.flatMap(passagesOf) : []
}

/** The value at a JSON pointer; undefined if there is none. */
function valueAt(body: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Readonly<Record<string, unknown>>)[name]
          : undefined,
      body,
    )
}
