import { fieldAt, objectOf, textOf } from '../json.ts'
import { growing, type Growing } from './merge-delta.ts'

/**
 * Far above real arguments. Without limits, a hostile stream could create a hundred objects from a hundred
 * letters.
 */
const [maxSteps, maxHolders, maxPathUnits] = [32, 50_000, 2_000]
/** Maximum gap before a list entry, and maximum length of a list. */
const [maxGap, maxEntries] = [16, 10_000]

type Holder = Growing | unknown[]

/** Arguments of a call that arrive in pieces, each with its path. */
export interface PartialArgs {
  readonly args: Growing
  /** Adds a Google `PartialArg`: strings are concatenated, anything else is set. */
  add(piece: unknown): void
}

/**
 * Pieces with an invalid path (none, a distant index, a member of a string) are kept under the path itself,
 * so that no argument is lost.
 */
export function partialArgs(given: unknown): PartialArgs {
  const args = growing(objectOf(given))
  let holders = 0
  const holderAt = (steps: readonly (string | number)[]): Holder | undefined => {
    let holder: Holder = args
    for (const [at, step] of steps.slice(0, -1).entries()) {
      const known = valueAt(holder, step)
      if (known === undefined && ++holders > maxHolders) return undefined
      const next: Holder | undefined =
        known === undefined ? (typeof steps[at + 1] === 'number' ? [] : growing()) : asHolder(known)
      if (next === undefined || !put(holder, step, next)) return undefined
      holder = next
    }
    return holder
  }
  return {
    args,
    add(piece) {
      const value = valueOf(piece)
      if (value === undefined) return
      const path = textOf(fieldAt(piece, 'jsonPath')) ?? ''
      const steps = stepsOf(path)
      const last = steps?.at(-1)
      const holder = steps === undefined ? undefined : holderAt(steps)
      if (holder === undefined || last === undefined || !grow(holder, last, value)) grow(args, path, value)
    },
  }
}

function valueOf(piece: unknown): unknown {
  const { stringValue, numberValue, boolValue, nullValue } = objectOf(piece) ?? {}
  return stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? undefined : null)
}

/** Returns false if the position is invalid or holds another type. */
function grow(holder: Holder, step: string | number, value: unknown): boolean {
  const known = valueAt(holder, step)
  if (typeof known === 'object' && known !== null) return false
  if (typeof known === 'string') return put(holder, step, known + String(value))
  return put(holder, step, value)
}

function valueAt(holder: Holder, step: string | number): unknown {
  if (Array.isArray(holder)) return typeof step === 'number' ? holder[step] : undefined
  return holder[String(step)]
}

/** An object that arrived complete has a prototype, which a piece could modify: copy it into one without. */
function asHolder(value: unknown): Holder | undefined {
  if (Array.isArray(value)) return value as unknown[]
  const object = objectOf(value)
  return object === undefined || Object.getPrototypeOf(object) === null ? object : growing(object)
}

function put(holder: Holder, step: string | number, value: unknown): boolean {
  if (Array.isArray(holder) !== (typeof step === 'number')) return false
  if (!Array.isArray(holder)) holder[String(step)] = value
  else if (typeof step === 'number') {
    if (step > holder.length + maxGap || step >= maxEntries) return false
    while (holder.length < step) holder.push(null)
    holder[step] = value
  }
  return true
}

/** The subset of RFC 9535 that names one location: `$.a.b[0]['c d']`. */
const step = /\.([^.[\]'"*\s]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y

function stepsOf(path: string): (string | number)[] | undefined {
  if (!path.startsWith('$') || path.length > maxPathUnits) return undefined
  const steps: (string | number)[] = []
  step.lastIndex = 1
  while (step.lastIndex < path.length) {
    const [, name, index, single, double] = step.exec(path) ?? []
    const quoted = (single ?? double)?.replace(/\\(.)/g, '$1')
    const found = index === undefined ? (name ?? quoted) : Number(index)
    if (found === undefined || steps.length === maxSteps) return undefined
    steps.push(found)
  }
  return steps
}
