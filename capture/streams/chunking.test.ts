import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { assembleStream, recordedMessage } from './assemble-stream.ts'

/** Splits a text at the given fractions of its length. */
function cut(text: string, shares: readonly number[]): string[] {
  const places = [0, ...shares.map((share) => Math.floor(share * text.length)), text.length].sort(
    (a, b) => a - b,
  )
  return places.slice(1).map((place, at) => text.slice(places[at], place))
}

const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })
const words = fc.string({ unit: 'grapheme', maxLength: 40 })
const made = fc.record({
  name: fc.constantFrom('run', 'get_weather', 'search'),
  given: fc.dictionary(
    fc.string({ maxLength: 8 }),
    fc.oneof(words, fc.integer(), fc.array(words, { maxLength: 3 })),
    { minKeys: 1, maxKeys: 4 },
  ),
  shares,
})
/** How a host identifies the call of a chunk. `name`: in each chunk, or only in the first. */
const style = fc.record({
  index: fc.constantFrom('own', 'one', 'none'),
  id: fc.constantFrom('each', 'first', 'none'),
  name: fc.constantFrom('each', 'first'),
})

interface Style {
  index: string
  id: string
  name: string
}
type Made = { name: string; given: object; shares: number[] }

function piecesOf({ name, given, shares: at }: Made, place: number, host: Style): object[] {
  const pieces = cut(JSON.stringify(given), at).filter((piece) => piece !== '')
  return pieces.map((piece, nth) => ({
    ...(host.index === 'none' ? {} : { index: host.index === 'own' ? place : 0 }),
    ...(host.id === 'each' || (host.id === 'first' && nth === 0) ? { id: `call_${place}` } : {}),
    function: { ...(host.name === 'each' || nth === 0 ? { name } : {}), arguments: piece },
  }))
}

/** Interleaves the chunks of several calls, which only an index or identifier tells apart. */
function inTurn(lists: readonly object[][]): object[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat()
}

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

function streamOf(
  message: { text: string; shares: number[]; calls: Made[] },
  host: Style,
  isInTurn: boolean,
  lineEnd: string,
): Buffer {
  const lists = message.calls.map((call, place) => piecesOf(call, place, host))
  const canTell = host.index === 'own' || host.id === 'each'
  const pieces = isInTurn && canTell ? inTurn(lists) : lists.flat()
  const chunks = [
    ...cut(message.text, message.shares).map((content) => chunk({ content })),
    ...pieces.map((piece) => chunk({ tool_calls: [piece] })),
    chunk({}, 'stop'),
  ]
  const lines = chunks.flatMap((one) => [`data: ${JSON.stringify(one)}`, ''])
  return Buffer.from([...lines, 'data: [DONE]', '', ''].join(lineEnd))
}

interface Assembled {
  text: unknown
  calls: unknown
}

function read(body: unknown): Assembled {
  const { choices } = body as {
    choices: { message: { content: unknown; tool_calls?: { function: unknown }[] } }[]
  }
  const { content, tool_calls: calls = [] } = choices[0]?.message ?? { content: null }
  return { text: content ?? '', calls: calls.map((call) => call.function) }
}

const message = fc.record({ text: words, shares, calls: fc.array(made, { maxLength: 3 }) })

test('however a message is cut into chunks, the same comes out', () => {
  fc.assert(
    fc.property(
      message,
      style,
      fc.boolean(),
      fc.constantFrom('\n', '\r\n', '\r'),
      (said, host, isInTurn, lineEnd) => {
        const assembled = assembleStream(streamOf(said, host, isInTurn, lineEnd).toString())
        const calls = said.calls.map(({ name, given }) => ({ name, arguments: JSON.stringify(given) }))
        expect(assembled?.ended).toBe(true)
        expect(read(assembled?.body)).toEqual({ text: said.text, calls })
      },
    ),
    { numRuns: 500 },
  )
})

test('wherever the bytes of a stream break off, the same comes out or the record says that it is cut', () => {
  fc.assert(
    fc.property(
      message,
      style,
      fc.boolean(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (said, host, isInTurn, share) => {
        const bytes = streamOf(said, host, isInTurn, '\r\n')
        const whole = assembleStream(bytes.toString())
        const assembled = assembleStream(bytes.subarray(0, Math.floor(share * bytes.length)).toString())
        if (assembled === undefined) return
        const recorded = recordedMessage(assembled)
        if (recorded['truncated'] !== true) expect(read(recorded)).toEqual(read(whole?.body))
      },
    ),
    { numRuns: 500 },
  )
})
