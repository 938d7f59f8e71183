import { allTexts } from '#capture/all-texts.ts'
import { fieldAt, listOf, parseJson } from '#capture/json.ts'
import { textsOfCall, type CallTexts, type SpokenText } from '#capture/texts-of-call.ts'
import { offeredTypes } from '#capture/tool-results.ts'
import { isPartWhole, type Call, type Evidence } from '../call-text.ts'
import type { JudgeMaterial, Shown } from './judge-prompt.ts'
import { unreadTexts } from './unread-texts.ts'
import { windowText } from './window-text.ts'

/** More texts than so many are a corpus, not a context: their windows would be too small to read. */
const maxContextTexts = 20
const maxFlagged = 50
const maxTurns = 40
/** Of what is shown of an answer: a long one must not hide what the model thought of it. */
const minForThoughts = 0.25
/** Enough to see what an answer was to: users' words stand whole in the request. */
const userTurnUnits = 200

/**
 * What the judge is shown of a call: at most about `limit` UTF-16 units of the request, of the answer, of the instructions, of
 * the tools, of all context together and of all earlier answers together. What detectors flagged stays in sight when a long text is cut, and what came last when there are many:
 * the results that an agent acts on.
 */
export function materialOf(call: Call, limit: number, flagged: readonly Evidence[] = []): JudgeMaterial {
  const said = textsOfCall(call.request?.value, call.response?.value)
  const offered = toolsOffered(call.request?.value, call.response?.value)
  const { request, answer, thoughts, system, context } = wholeMaterial(call, said, offered, limit)
  const passages = flagged.map((evidence) => passageOf(evidence, call)).filter((passage) => passage !== '')
  const partial = new Set<Shown>()
  const cut = (part: Shown, text: string, most = limit) => {
    if (text.length > most) partial.add(part)
    return windowText(text, most, passages)
  }
  const texts = maxTelling(context, passages)
  if (texts.length < context.length) {
    partial.add('context')
    texts.push(`[${context.length - texts.length} more texts left out]`)
  }
  const turns = turnsOf(said.messages)
  if (turns.length > maxTurns) partial.add('turns')
  if (!isPartWhole(call, 'request_body')) partial.add('request')
  if (!isPartWhole(call, 'response_body')) partial.add('answer')
  const roomForThoughts = Math.max(limit - answer.length, Math.floor(limit * minForThoughts))
  return {
    request: cut('request', request),
    answer: joined([cut('answer', answer), cut('thoughts', thoughts, roomForThoughts)]),
    system_prompt: cut('system_prompt', system),
    context: shareOut(texts, limit).map(([text, most]) => cut('context', text, most)),
    tools: cut('tools', offered === undefined ? '' : JSON.stringify(offered)),
    turns: shortenTurns(turns.slice(-maxTurns), limit, (text, most) => cut('turns', text, most)),
    partial,
  }
}

/** What was said, by the places where it is known to stand; then what else detectors read. */
function wholeMaterial(
  call: Call,
  { prompt, answer, toolCalls, system, context }: CallTexts,
  offered: unknown,
  limit: number,
) {
  const calls = toolCalls.map(({ name, arguments: given }) => `[calls ${name}: ${given}]`)
  const given = toolCalls.flatMap(({ arguments: text }) => [text, ...allTexts(parseJson(text))])
  const unread = unreadTexts(
    call,
    {
      request: [prompt],
      answer: [answer, ...given],
      system_prompt: [system],
      context: [...context],
      offered: allTexts(offered),
    },
    limit,
  )
  return {
    request: joined([prompt, ...unread.request]),
    answer: joined([answer, ...calls, ...unread.answer]),
    thoughts: joined(unread.thoughts),
    system: joined([system, ...unread.system_prompt]),
    // One text, so that it leaves the others their places.
    context: [...context, joined(unread.context)].filter((text) => text !== ''),
  }
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n')
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
function maxTelling(texts: readonly string[], passages: readonly string[]): string[] {
  if (texts.length <= maxContextTexts) return [...texts]
  // Each passage is looked for in each text: hostile calls have hundreds of one and megabytes of the other.
  const looked = passages.slice(0, maxFlagged)
  const isFlagged = (text: string) => looked.some((passage) => text.includes(passage))
  const flagged = texts.keys().filter((index) => isFlagged(texts[index] ?? ''))
  const last = texts.map((_text, index) => texts.length - 1 - index)
  const chosen = new Set([...new Set([...flagged, ...last])].slice(0, maxContextTexts))
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

/** By the application, and by servers that were asked for their tools. Undefined: nothing. */
function toolsOffered(request: unknown, response: unknown): unknown {
  const offered = fieldAt(request, 'tools') ?? fieldAt(request, 'functions') ?? fieldAt(request, 'toolConfig')
  const listed = [
    ...listOf(fieldAt(request, 'input')),
    ...listOf(fieldAt(response, 'output')),
    ...listOf(fieldAt(response, 'content')),
  ].filter((item) => offeredTypes.has(fieldAt(item, 'type')))
  return listed.length > 0 ? [...(offered === undefined ? [] : [offered]), ...listed] : (offered ?? undefined)
}
