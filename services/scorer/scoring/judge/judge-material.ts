import { allTexts } from '#capture/all-texts.ts'
import { fieldAt, listOf, parseJson } from '#capture/json.ts'
import type { SpokenText } from '#capture/request-messages.ts'
import { textsOfCall, type CallTexts } from '#capture/texts-of-call.ts'
import { offeredTypes } from '#capture/tool-results.ts'
import { isPartWhole, type Call, type Evidence } from '#detectors/call-text.ts'
import type { JudgeMaterial, Shown } from './judge-prompt.ts'
import { unreadTexts } from './unread-texts.ts'
import { windowText } from './window-text.ts'

/** More texts than this are a corpus: each would get too small a window. */
const maxContextTexts = 20
const maxFlagged = 50
const maxTurns = 40
/** Share of the answer's space reserved for thoughts, so that a long answer cannot hide them. */
const minForThoughts = 0.25
/** Enough to see what an answer replies to: the request has the user's words in full. */
const userTurnUnits = 200

/**
 * What the judge sees of a call: at most about `limit` UTF-16 units each of request, answer, instructions,
 * tools, all context and all earlier answers. Flagged passages stay visible when a long text is shortened. Of
 * many texts the last stay: the results that an agent acts on.
 */
export function materialOf(call: Call, limit: number, flagged: readonly Evidence[] = []): JudgeMaterial {
  const said = textsOfCall(call.request?.value, call.response?.value)
  const offered = toolsOffered(call.request?.value, call.response?.value)
  const { request, answer, thoughts, system, context } = wholeMaterial(call, said, offered, limit)
  const passages = flagged.map((evidence) => passageOf(evidence, call)).filter((passage) => passage !== '')
  const partial = new Set<Shown>()
  const cut = (part: Shown, text: string, max = limit) => {
    if (text.length > max) partial.add(part)
    return windowText(text, max, passages)
  }
  const texts = selectTexts(context, passages)
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
    context: shareOut(texts, limit).map(([text, max]) => cut('context', text, max)),
    tools: cut('tools', offered === undefined ? '' : JSON.stringify(offered)),
    turns: shortenTurns(turns.slice(-maxTurns), limit, (text, max) => cut('turns', text, max)),
    partial,
  }
}

/** Texts at their known locations first, then anything else that detectors read. */
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
    // Joined into one, so that it takes only one of the places.
    context: [...context, joined(unread.context)].filter((text) => text !== ''),
  }
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n')
}

/** Empty if the model has not answered yet: the request then has it all. */
function turnsOf(messages: readonly SpokenText[]): SpokenText[] {
  const turns = messages.filter(({ role }) => role === 'user' || role === 'assistant')
  return turns.some(({ role }) => role === 'assistant') ? turns : []
}

function shortenTurns(
  turns: readonly SpokenText[],
  limit: number,
  cut: (text: string, max: number) => string,
): SpokenText[] {
  const answers = turns.filter(({ role }) => role === 'assistant').map(({ text }) => text)
  const shares = shareOut(answers, limit).values()
  return turns.map(({ role, text }) => {
    if (role !== 'assistant') return { role, text: windowText(text, userTurnUnits) }
    return { role, text: cut(text, shares.next().value?.[1] ?? 0) }
  })
}

/** Texts with flagged passages, then the last ones; in original order. */
function selectTexts(texts: readonly string[], passages: readonly string[]): string[] {
  if (texts.length <= maxContextTexts) return [...texts]
  // Passages × texts: hostile calls have hundreds of one and megabytes of the other.
  const looked = passages.slice(0, maxFlagged)
  const isFlagged = (text: string) => looked.some((passage) => text.includes(passage))
  const flagged = texts.keys().filter((index) => isFlagged(texts[index] ?? ''))
  const last = texts.map((_text, index) => texts.length - 1 - index)
  const chosen = new Set([...new Set([...flagged, ...last])].slice(0, maxContextTexts))
  return texts.filter((_text, index) => chosen.has(index))
}

/** Short texts are kept whole; long ones share the rest. */
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

/** Offered by the application or by MCP servers. Undefined: none. */
function toolsOffered(request: unknown, response: unknown): unknown {
  const offered = fieldAt(request, 'tools') ?? fieldAt(request, 'functions') ?? fieldAt(request, 'toolConfig')
  const listed = [
    ...listOf(fieldAt(request, 'input')),
    ...listOf(fieldAt(response, 'output')),
    ...listOf(fieldAt(response, 'content')),
  ].filter((item) => offeredTypes.has(fieldAt(item, 'type')))
  return listed.length > 0 ? [...(offered === undefined ? [] : [offered]), ...listed] : (offered ?? undefined)
}
