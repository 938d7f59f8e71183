import { expect, test } from '@jest/globals'
import { cutByMarks, readLines } from './read-lines.ts'

/** Single bytes, so that characters come in parts too. */
const bodyOf = (...chunks: readonly string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of new TextEncoder().encode(chunks.join(''))) controller.enqueue(new Uint8Array([byte]))
      controller.close()
    },
  })

async function linesOf(body: ReadableStream<Uint8Array>): Promise<string[]> {
  const lines: string[] = []
  for await (const line of readLines(body)) lines.push(line)
  return lines
}

test('lines come whole, whatever the chunks', async () => {
  expect(await linesOf(bodyOf('{"a":"é🙂"}\n', '{}\n'))).toEqual(['{"a":"é🙂"}', '{}'])
  expect(await linesOf(bodyOf())).toEqual([])
})

test('a line that breaks off is an error', async () => {
  await expect(linesOf(bodyOf('{}\n{"a'))).rejects.toThrow('broke off')
})

test('a text is cut at its marks', () => {
  expect(
    cutByMarks('see the key now', [
      { start: 4, end: 7 },
      { start: 8, end: 11 },
    ]),
  ).toEqual([
    { text: 'see ', isMarked: false },
    { text: 'the', isMarked: true },
    { text: ' ', isMarked: false },
    { text: 'key', isMarked: true },
    { text: ' now', isMarked: false },
  ])
  expect(cutByMarks('all', [{ start: 0, end: 3 }])).toEqual([{ text: 'all', isMarked: true }])
})
