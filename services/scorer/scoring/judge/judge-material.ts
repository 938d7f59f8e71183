import { textsOfCall } from '#capture/texts-of-call.ts'
import { isKeptWhole, type Call, type Evidence } from '../call-text.ts'
import type { JudgeMaterial } from './judge-prompt.ts'
import type { Side, Surrounding } from './rubric.ts'
import { windowText } from './window-text.ts'

/** More texts than so many are a corpus, not a context: their windows would be too small to read. */
const mostContextTexts = 20

/**
 * What the judge is shown of a call: at most about `limit` UTF-16 units of the request, of the answer, of the instructions, of
 * the tools and of all context together. What detectors flagged stays in sight when a long text is cut, and what came last when there are many:
 * the results that an agent acts on.
 */
export function materialOf(call: Call, limit: number, flagged: readonly Evidence[] = []): JudgeMaterial {
  const { prompt, answer, toolCalls, system, context } = textsOfCall(
    call.request?.value,
    call.response?.value,
  )
  const said = [answer, ...toolCalls.map(({ name, arguments: given }) => `[calls ${name}: ${given}]`)]
  const passages = flagged.map((evidence) => passageOf(evidence, call)).filter((passage) => passage !== '')
  const partial = new Set<Side | Surrounding>()
  const cut = (part: Side | Surrounding, text: string, most = limit) => {
    if (text.length > most) partial.add(part)
    return windowText(text, most, passages)
  }
  const texts = mostTelling(context, passages)
  if (texts.length < context.length) {
    partial.add('context')
    texts.push(`[${context.length - texts.length} more texts left out]`)
  }
  if (!isKeptWhole(call.request?.value)) partial.add('request')
  if (!isKeptWhole(call.response?.value)) partial.add('answer')
  return {
    request: cut('request', prompt),
    answer: cut('answer', said.filter((text) => text !== '').join('\n')),
    system_prompt: cut('system_prompt', system),
    context: shareOut(texts, limit).map(([text, most]) => cut('context', text, most)),
    tools: cut('tools', toolsOffered(call.request?.value)),
    partial,
  }
}

/** Those with a flagged passage, then the last ones; in their order. */
function mostTelling(texts: readonly string[], passages: readonly string[]): string[] {
  const isFlagged = (text: string) => passages.some((passage) => text.includes(passage))
  const flagged = texts.keys().filter((index) => isFlagged(texts[index] ?? ''))
  const last = texts.map((_text, index) => texts.length - 1 - index)
  const chosen = new Set([...new Set([...flagged, ...last])].slice(0, mostContextTexts))
  return texts.filter((_text, index) => chosen.has(index))
}

/** Short texts keep what they have; the long ones share what that leaves. */
function shareOut(texts: readonly string[], limit: number): [string, number][] {
  let left = limit
  let waiting = texts.length
  const shares = new Map<number, number>()
  for (const [index, text] of [...texts.entries()].sort((one, other) => one[1].length - other[1].length)) {
    const share = Math.min(text.length, Math.floor(left / waiting))
    shares.set(index, share)
    left -= share
    waiting -= 1
  }
  return texts.map((text, index) => [text, shares.get(index) ?? 0])
}

function passageOf({ part, pointer, start, end }: Evidence, call: Call): string {
  const text = call.texts.find((candidate) => candidate.part === part && candidate.pointer === pointer)
  return text?.text.slice(start, end) ?? ''
}

function toolsOffered(request: unknown): string {
  if (typeof request !== 'object' || request === null) return ''
  const { tools, functions, toolConfig } = request as Readonly<Record<string, unknown>>
  const offered = tools ?? functions ?? toolConfig
  return offered === undefined || offered === null ? '' : JSON.stringify(offered)
}
