import { isRecord, textAt, type BodyPart, type Place } from './body-place.ts'

/** A text of a body with its location. */
export interface Passage {
  part: BodyPart
  pointer: string
  text: string
}

/** A picture in a body, in base64. */
export interface Picture {
  type: string
  data: string
}

export type Block =
  | { kind: 'text'; passage: Passage; note?: string }
  | { kind: 'tool_call'; name: string; given: readonly Block[] }
  | { kind: 'placeholder'; what: string; detail: string; picture?: Picture }

/** Fields of an object with text, in reading order. */
const spoken = [
  'text',
  'thinking',
  'refusal',
  'content',
  'summary',
  'parts',
  'output',
  'result',
  'functionResponse',
  'response',
  'toolResult',
  'json',
  'codeExecutionResult',
  'reasoningContent',
  'reasoningText',
]
/** Of these, the values are data. */
const data: ReadonlySet<string | undefined> = new Set(['response', 'json'])
/** Maximum values shown per object; the raw JSON has the rest. */
const maxLeaves = 200

/** All readable content of a value. `leaves`: an object is data, shown value by value. */
export function readBlocks(place: Place, form: 'spoken' | 'leaves' = 'spoken'): Block[] {
  const { value } = place
  if (value === undefined || value === null || value === '') return []
  if (typeof value === 'string') return [textBlock(place, value)]
  if (Array.isArray(value)) {
    const items = place.items()
    // Long lists of numbers are vectors.
    if (items.length > 8 && items.every((item) => typeof item.value === 'number'))
      return [{ kind: 'placeholder', what: 'Numbers', detail: String(items.length) }]
    return form === 'leaves' ? readLeaves(place) : items.flatMap((item) => readBlocks(item))
  }
  if (!isRecord(value)) return [textBlock(place, JSON.stringify(value))]
  return form === 'leaves' ? readLeaves(place) : readObject(place, value)
}

function readObject(place: Place, value: Record<string, unknown>): Block[] {
  const written = readWrittenFile(place)
  if (written.length > 0) return written
  const media = readConverseMedia(place) ?? readMedia(place)
  if (media !== undefined) return [media]
  const calls = readToolCalls(place)
  if (calls.length > 0) return calls
  const name = spoken.find((each) => value[each] !== undefined && value[each] !== null)
  return name === undefined
    ? readLeaves(place)
    : readBlocks(place.at(name), data.has(name) ? 'leaves' : 'spoken')
}

/** A file that is text, or consists of message parts, is read like other text. */
function readWrittenFile(place: Place): Block[] {
  if (textAt(place, 'type') !== 'document') return []
  const source = place.at('source')
  const type = textAt(source, 'type')
  if (type !== 'text' && type !== 'content') return []
  return ['title', 'context']
    .flatMap((name) => readBlocks(place.at(name)))
    .concat(readBlocks(source.at('data', 'content')))
}

/** Bedrock's pictures, films and documents: a format, and bytes in a source. */
function readConverseMedia(place: Place): Block | undefined {
  for (const [name, what] of [
    ['image', 'Image'],
    ['document', 'File'],
    ['video', 'Film'],
  ] as const) {
    const bytes = textAt(place.at(name).at('source'), 'bytes')
    if (bytes === undefined) continue
    const format = textAt(place.at(name), 'format') ?? ''
    return placeholder(what, name === 'image' ? `image/${format}` : format, bytes)
  }
  return undefined
}

/** Pictures without a type, as Ollama takes them. */
export function readPictures(place: Place): Block[] {
  return place
    .items()
    .flatMap(({ value }) => (typeof value === 'string' ? [placeholder('Image', typeOf(value), value)] : []))
}

/** The type of a picture by its first bytes. */
function typeOf(base64: string): string {
  const starts = { '/9j/': 'image/jpeg', iVBORw: 'image/png', R0lGOD: 'image/gif', UklGR: 'image/webp' }
  return Object.entries(starts).find(([start]) => base64.startsWith(start))?.[1] ?? 'image'
}

function placeholder(what: string, type: string, base64: string): Block {
  const detail = [type, sizeOf(base64)].filter((each) => each !== '').join(', ')
  return {
    kind: 'placeholder',
    what,
    detail,
    ...(what === 'Image' ? { picture: { type, data: base64 } } : {}),
  }
}

const sizeOf = (base64: string) => `${Math.ceil((base64.length * 3) / 4 / 1_000)} kB`

/** Pictures, sound and files are named but never loaded: others wrote their addresses. */
function readMedia(place: Place): Block | undefined {
  const type = textAt(place, 'type') ?? ''
  const source = place.at(
    'image_url',
    'inlineData',
    'inline_data',
    'fileData',
    'file_data',
    'input_audio',
    'source',
    'file',
    'image',
  )
  const isMedia =
    /image|audio|video|file|document|media/.test(type) || (type === '' && isRecord(source.value))
  if (!isMedia || source.value === undefined) return undefined
  const given =
    typeof source.value === 'string'
      ? source.value
      : (textAt(source, 'url') ?? textAt(source, 'data') ?? textAt(source, 'file_data') ?? '')
  const kind =
    /^data:([\w.+-]+\/[\w.+-]+)/.exec(given)?.[1] ??
    textAt(source, 'media_type') ??
    textAt(source, 'mimeType') ??
    textAt(source, 'mime_type')
  const isAddress = /^\w+:\/\//.test(given)
  const size = isAddress || given === '' ? undefined : sizeOf(given)
  const data = given.slice(given.startsWith('data:') ? given.indexOf(',') + 1 : 0)
  const isPicture = kind?.startsWith('image/') === true && size !== undefined
  return {
    kind: 'placeholder',
    what: /audio/.test(type + (kind ?? '')) ? 'Sound' : /file|document/.test(type) ? 'File' : 'Image',
    detail: [kind, size, isAddress ? given.slice(0, 200) : undefined]
      .filter((each) => each !== undefined)
      .join(', '),
    ...(isPicture ? { picture: { type: kind, data } } : {}),
  }
}

/** Tool calls of a message or a part. */
export function readToolCalls(place: Place): Block[] {
  const listed = [...place.at('tool_calls').items(), ...wrapped(place.at('function_call'))]
  if (listed.length > 0) return listed.flatMap(readCall)
  const type = textAt(place, 'type') ?? ''
  const part = place.at('functionCall', 'toolUse', 'executableCode')
  if (isRecord(part.value)) return readCall(part)
  return /(^|_)tool_use$|_call$/.test(type) ? readCall(place) : []
}

function wrapped(place: Place): Place[] {
  return isRecord(place.value) ? [place] : []
}

function readCall(call: Place): Block[] {
  const inner = call.at('function', 'custom')
  const named = isRecord(inner.value) ? inner : call
  const given = named.at('arguments', 'input', 'args', 'parameters', 'action', 'code')
  return [
    {
      kind: 'tool_call',
      name: textAt(named, 'name') ?? textAt(named, 'type') ?? textAt(named, 'language') ?? 'tool',
      given: readBlocks(given, 'leaves'),
    },
  ]
}

/** Each value of an object with its path, so that evidence is shown in place. */
function readLeaves(place: Place, path = ''): Block[] {
  const children = isRecord(place.value)
    ? Object.keys(place.value).map((name) => [name, place.at(name)] as const)
    : place.items().map((item, index) => [String(index), item] as const)
  const blocks: Block[] = []
  for (const [name, child] of children) {
    if (blocks.length >= maxLeaves) break
    const childPath = path === '' ? name : `${path}.${name}`
    if (typeof child.value === 'object' && child.value !== null) blocks.push(...readLeaves(child, childPath))
    else if (child.value !== undefined) {
      const text = typeof child.value === 'string' ? child.value : JSON.stringify(child.value)
      blocks.push({ ...textBlock(child, text), note: childPath })
    }
  }
  return blocks.slice(0, maxLeaves)
}

function textBlock({ part, pointer }: Place, text: string): Extract<Block, { kind: 'text' }> {
  return { kind: 'text', passage: { part, pointer, text } }
}
