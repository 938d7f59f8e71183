import { fieldAt, objectOf, parseJson, textOf, type JsonObject } from '../json.ts'
import { createJsonProgress, type JsonProgress } from './json-progress.ts'
import { growing, grownFrom, maxIndex, mergeDelta, type Growing } from './merge-delta.ts'

/** Tool calls of a chat completion, assembled from chunks that identify their call in different ways. */
export interface CallPieces {
  add(piece: unknown): void
  /** As in a message, without the stream's index. Anything that is no call comes last. */
  calls(): readonly unknown[]
  /** Whether the assignment of chunks is ambiguous. */
  isDoubtful(): boolean
}

interface Call {
  fields: Growing
  index: number | undefined
  progress: JsonProgress
  /** Whether the host repeats the name in later chunks. */
  isRenamed: boolean
  /** Arguments by identifier, if chunks of one name had several before they were complete. */
  byId: Map<string, string> | undefined
  /** The last identifier received. */
  lastId: string
}

interface Piece {
  fields: JsonObject
  index: number | undefined
  id: string | undefined
  name: string | undefined
  /** The added arguments: text, or a complete object. */
  given: unknown
}

/**
 * By the protocol each chunk has an index. Some hosts omit it, or use the same for all calls. Then the
 * identifier decides if every chunk has one, or else the name, and complete arguments end a call.
 */
export function createCallPieces(): CallPieces {
  const calls: Call[] = []
  const byIndex = new Map<number, Call>()
  const byId = new Map<string, Call>()
  const byName = new Map<string, Call>()
  const others: unknown[] = []
  let last: Call | undefined

  /** The call by index and identifier, or else the previous one. */
  const knownFor = ({ index, id, name }: Piece): Call | undefined => {
    const sameId = id === undefined ? undefined : byId.get(id)
    if (index === undefined) return sameId ?? last
    const sameIndex = byIndex.get(index)
    if (sameIndex === undefined) {
      const isLate = name === undefined && last !== undefined && last.index === undefined
      return (name === undefined ? sameId : undefined) ?? (isLate ? last : undefined)
    }
    return sameId?.index === index ? sameId : sameIndex
  }
  /** The open call of this name, if only the name identifies it. */
  const openFor = ({ id, name }: Piece): Call | undefined => {
    const named = id === undefined && name !== undefined ? byName.get(name) : undefined
    return named?.progress.isWhole() === false && textOf(named.fields['id']) === undefined ? named : undefined
  }
  const begin = ({ index }: Piece): Call => {
    const call = {
      fields: growing(),
      index,
      progress: createJsonProgress(),
      isRenamed: false,
      byId: undefined,
      lastId: '',
    }
    calls.push(call)
    return call
  }

  return {
    add(given) {
      if (objectOf(given) === undefined) {
        others.push(given)
        return
      }
      const piece = pieceOf(given)
      const known = knownFor(piece)
      const isFull = calls.length >= maxIndex
      const found = known === undefined || goesOn(known, piece) ? known : openFor(piece)
      const call = found ?? (isFull ? last : undefined) ?? begin(piece)
      extend(call, piece)
      const name = nameOf(call.fields)
      call.index ??= piece.index
      if (call.index !== undefined) byIndex.set(call.index, call)
      if (piece.id !== undefined) byId.set(piece.id, call)
      if (name !== undefined) byName.set(name, call)
      last = call
    },
    calls: () => [...calls.flatMap(partsOf), ...others],
    isDoubtful: () =>
      calls.some(
        (call) => call.byId !== undefined && !partsOf(call).every((part) => isJson(argumentsOf(part))),
      ),
  }
}

function pieceOf(given: unknown): Piece {
  const { index, ...fields } = objectOf(given) ?? {}
  return {
    fields,
    index: typeof index === 'number' ? index : undefined,
    id: textOf(fields['id']),
    name: nameOf(fields),
    given: fieldAt(fields, 'function', 'arguments') ?? fieldAt(fields, 'custom', 'input'),
  }
}

function nameOf(call: JsonObject): string | undefined {
  return textOf(fieldAt(call, 'function', 'name') ?? fieldAt(call, 'custom', 'name'))
}

/** Whether a chunk continues the call that its index, identifier or position suggests. */
function goesOn(call: Call, piece: Piece): boolean {
  const [id, name] = [textOf(call.fields['id']), nameOf(call.fields)]
  const isOtherId = id !== undefined && piece.id !== undefined && id !== piece.id
  const adds = (textOf(piece.given)?.trim() ?? '') !== '' || objectOf(piece.given) !== undefined
  const hasNothing = isOtherId && fieldAt(call.fields, 'function', 'arguments') === undefined
  const isOver = hasNothing || call.progress.isWhole()
  // Some hosts give each chunk its own identifier.
  if (piece.name === undefined) return !(isOtherId && isOver && adds)
  if (name === undefined) return !isOtherId
  if (piece.name !== name) return isInPieces(call, piece)
  if (isOtherId && isFreeText(call)) return false
  if (!isOver) return true
  return adds ? false : call.isRenamed || (id !== undefined && id === piece.id)
}

/** Whether the name itself is split, as OpenAI's clients support: within one call, before its arguments. */
function isInPieces({ fields, index }: Call, piece: Piece): boolean {
  const id = textOf(fields['id'])
  const isSame =
    id !== undefined &&
    (piece.id === undefined ? piece.index !== undefined && piece.index === index : piece.id === id)
  return isSame && textOf(fieldAt(fields, 'function', 'arguments')) === undefined && !isFreeText({ fields })
}

/** A custom tool accepts any text, so its end cannot be detected. */
function isFreeText({ fields }: Pick<Call, 'fields'>): boolean {
  return fieldAt(fields, 'custom') !== undefined
}

/**
 * Either one call whose host gives each chunk another identifier (vLLM), or several calls of one function:
 * whichever yields valid JSON.
 */
function partsOf({ fields, byId }: Call): Growing[] {
  if (byId === undefined || isJson(argumentsOf(fields)) || !Array.from(byId.values()).every(isJson))
    return [fields]
  return Array.from(byId, ([id, text]) => ({
    ...fields,
    id,
    function: { ...objectOf(fields['function']), arguments: text },
  }))
}

function argumentsOf(call: JsonObject): string {
  return textOf(fieldAt(call, 'function', 'arguments')) ?? ''
}

function isJson(text: string): boolean {
  return parseJson(text) !== undefined
}

function extend(call: Call, { fields, id, name, given }: Piece): void {
  const before = nameOf(call.fields)
  const knownId = textOf(call.fields['id'])
  if (
    call.byId === undefined &&
    knownId !== undefined &&
    id !== undefined &&
    id !== knownId &&
    name !== undefined &&
    !call.progress.isWhole()
  )
    call.byId = new Map([[knownId, argumentsOf(call.fields)]])
  if (call.byId !== undefined && typeof given === 'string') {
    const of = id ?? call.lastId
    call.byId.set(of, (call.byId.get(of) ?? '') + given)
  }
  call.lastId = id ?? call.lastId
  mergeDelta(call.fields, fields)
  if (name !== undefined && before !== undefined) {
    call.isRenamed = true
    if (name !== before) {
      const named = grownFrom(call.fields['function'])
      // Some hosts repeat the start of the name.
      named['name'] = name.startsWith(before) ? name : before + name
      call.fields['function'] = named
    }
  }
  if (!isFreeText(call))
    call.progress.add(typeof given === 'string' ? given : given === undefined ? '' : JSON.stringify(given))
}
