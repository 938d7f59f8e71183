import { textsOfCall } from '#capture/texts-of-call.ts'
import type { Call, Evidence } from '../call-text.ts'
import type { JudgeMaterial } from './judge-prompt.ts'
import { windowText } from './window-text.ts'

/** More texts than so many are a corpus, not a context: their windows would be too small to read. */
const mostContextTexts = 20

/**
 * What the judge is shown of a call: at most about `limit` UTF-16 units of the request, of the answer, of the instructions, of
 * the tools and of all context together. What detectors flagged stays in sight when a long text is cut.
 */
export function materialOf(call: Call, limit: number, flagged: readonly Evidence[] = []): JudgeMaterial {
  const { prompt, answer, toolCalls, system, context } = textsOfCall(
    call.request?.value,
    call.response?.value,
  )
  const said = [answer, ...toolCalls.map(({ name, arguments: given }) => `[calls ${name}: ${given}]`)]
  const passages = flagged.map((evidence) => passageOf(evidence, call)).filter((passage) => passage !== '')
  const cut = (text: string, most = limit) => windowText(text, most, passages)
  const texts = context.slice(0, mostContextTexts)
  if (context.length > texts.length) texts.push(`[${context.length - texts.length} more texts left out]`)
  return {
    request: cut(prompt),
    answer: cut(said.filter((text) => text !== '').join('\n')),
    system_prompt: cut(system),
    context: shareOut(texts, limit).map(([text, most]) => cut(text, most)),
    tools: cut(toolsOffered(call.request?.value)),
  }
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
