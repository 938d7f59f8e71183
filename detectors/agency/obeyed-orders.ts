import { parseJson } from '#capture/json.ts'
import { type CallText, type Evidence } from '../call-text.ts'
import { stringsOf } from '../strings-of.ts'
import { suspectMaterial } from '../injection/suspect-material.ts'
import type { ToolArgument } from './tool-arguments.ts'

/** A destination: address, link, account or path. Plain words occur in any text. */
const addressLike = /@|https?:\/\/|www\.|\d{4}|^[~/][\w./-]{3,}|[A-Z]{2,}-?\d{2,}/
const [minUnits, maxUnits] = [5, 200]
/** Limits for hostile answers: values searched for, and passages read around them (0.3 ms each). */
const [maxValues, maxLooks] = [50, 60]
/** How much of a tool's text is read around a value: an order stands near its target. */
const aroundUnits = 600
const convicting = 4

/**
 * Evidence that the answer obeys an order in a tool result: it calls a tool with an address from such an
 * order, one that neither user nor operator has named. An address from a tool result alone is normal: users
 * have mail answered.
 */
export function findObeyedOrders(
  given: readonly ToolArgument[],
  brought: readonly CallText[],
  own: string,
): Evidence[] {
  if (brought.length === 0) return []
  const evidence: Evidence[] = []
  let values = 0
  let looks = 0
  for (const argument of given) {
    for (const value of valuesOf(argument)) {
      if (!addressLike.test(value) || own.includes(value)) continue
      if (++values > maxValues) return evidence
      const texts = brought.filter(({ text }) => text.includes(value)).slice(0, maxLooks - looks)
      looks += texts.length
      const order = texts.flatMap((text) => orderWith(value, text))[0]
      if (order === undefined) continue
      const { part, pointer, text } = argument
      const start = Math.max(0, text.indexOf(value))
      evidence.push({ part, pointer, start, end: start + value.length, kind: 'argument_from_order' }, order)
    }
  }
  return evidence
}

/** Strings in a tool's arguments, including those inside JSON text. */
function valuesOf({ text }: ToolArgument): string[] {
  // Models may write broken JSON; then the text itself is the value.
  const parsed = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  const strings = Array.from(stringsOf(parsed ?? text), (string) => string.text)
  return strings.map((value) => value.trim()).filter(({ length }) => length >= minUnits && length <= maxUnits)
}

function orderWith(value: string, { part, pointer, text, offset }: CallText): Evidence[] {
  const at = text.indexOf(value)
  const from = Math.max(0, at - aroundUnits)
  const { points, hits } = suspectMaterial(text.slice(from, at + value.length + aroundUnits))
  const [first] = hits
  if (points < convicting || first === undefined) return []
  return [
    { part, pointer, start: offset + from + first.start, end: offset + from + first.end, kind: first.kind },
  ]
}
