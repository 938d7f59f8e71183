import { fieldAt, listOf } from '#capture/json.ts'
import { textsOfCall, type SpokenText } from '#capture/texts-of-call.ts'
import { isKeptWhole, type Call, type Evidence } from '../call-text.ts'
import type { JudgeMaterial, Shown } from './judge-prompt.ts'
import { windowText } from './window-text.ts'

/** More texts than so many are a corpus, not a context: their windows would be too small to read. */
const mostContextTexts = 20
const mostFlagged = 50
const mostTurns = 40
/** Enough to see what an answer was to: users' words stand whole in the request. */
const userTurnUnits = 200

/**
 * What the judge is shown of a call: at most about `limit` UTF-16 units of the request, of the answer, of the instructions, of
 * the tools, of all context together and of all earlier answers together. What detectors flagged stays in sight when a long text is cut, and what came last when there are many:
 * the results that an agent acts on.
 */
export function materialOf(call: Call, limit: number, flagged: readonly Evidence[] = []): JudgeMaterial {
  const { prompt, answer, toolCalls, system, context, messages } = textsOfCall(
    call.request?.value,
    call.response?.value,
  )
  const said = [answer, ...toolCalls.map(({ name, arguments: given }) => `[calls ${name}: ${given}]`)]
  const passages = flagged.map((evidence) => passageOf(evidence, call)).filter((passage) => passage !== '')
  const partial = new Set<Shown>()
  const cut = (part: Shown, text: string, most = limit) => {
    if (text.length > most) partial.add(part)
    return windowText(text, most, passages)
  }
  const texts = mostTelling(context, passages)
  if (texts.length < context.length) {
    partial.add('context')
    texts.push(`[${context.length - texts.length} more texts left out]`)
  }
  const turns = turnsOf(messages)
  if (turns.length > mostTurns) partial.add('turns')
  if (!isKeptWhole(call.request?.value)) partial.add('request')
  if (!isKeptWhole(call.response?.value)) partial.add('answer')
  return {
    request: cut('request', prompt),
    answer: cut('answer', said.filter((text) => text !== '').join('\n')),
    system_prompt: cut('system_prompt', system),
    context: shareOut(texts, limit).map(([text, most]) => cut('context', text, most)),
    tools: cut('tools', toolsOffered(call.request?.value, call.response?.value)),
    turns: shortenTurns(turns.slice(-mostTurns), limit, (text, most) => cut('turns', text, most)),
    partial,
  }
}

/** None where the model is said to have answered nothing yet: then the request says it all. */
function turnsOf(messages: readonly SpokenText[]): SpokenText[] {
  const turns = messages.filter(({ role }) => role === 'user' || role === 'assistant')
  return turns.some(({ role }) => role === 'assistant') ? turns : []
}

function shortenTurns(
  turns: readonly SpokenText[],
  limit: number,
  cut: (text: string, most: number) => string,
): SpokenText[] {
  const answers = turns.filter(({ role }) => role === 'assistant').map(({ text }) => text)
  const shares = shareOut(answers, limit).values()
  return turns.map(({ role, text }) => {
    if (role !== 'assistant') return { role, text: windowText(text, userTurnUnits) }
    return { role, text: cut(text, shares.next().value?.[1] ?? 0) }
  })
}

/** Those with a flagged passage, then the last ones; in their order. */
function mostTelling(texts: readonly string[], passages: readonly string[]): string[] {
  if (texts.length <= mostContextTexts) return [...texts]
  // Each passage is looked for in each text: hostile calls have hundreds of one and megabytes of the other.
  const looked = passages.slice(0, mostFlagged)
  const isFlagged = (text: string) => looked.some((passage) => text.includes(passage))
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

/** By the application, and by servers that were asked for their tools. */
function toolsOffered(request: unknown, response: unknown): string {
  const offered = fieldAt(request, 'tools') ?? fieldAt(request, 'functions') ?? fieldAt(request, 'toolConfig')
  const listed = [...listOf(fieldAt(request, 'input')), ...listOf(fieldAt(response, 'output'))].filter(
    (item) => fieldAt(item, 'type') === 'mcp_list_tools',
  )
  if (listed.length > 0) return JSON.stringify([...(offered === undefined ? [] : [offered]), ...listed])
  return offered === undefined || offered === null ? '' : JSON.stringify(offered)
}
