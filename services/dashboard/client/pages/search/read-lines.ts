/** The lines of a streamed text, each as soon as it is complete. Throws if the last one is not. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } finally {
    void reader.cancel()
  }
  if (rest !== '') throw new Error('the answer broke off')
}

interface Mark {
  start: number
  end: number
}

/** A text in pieces, those within `marks` marked. */
export function cutByMarks(text: string, marks: readonly Mark[]): { text: string; isMarked: boolean }[] {
  const edges = marks.flatMap(({ start, end }) => [start, end])
  return [0, ...edges]
    .map((from, index) => ({
      text: text.slice(from, edges[index] ?? text.length),
      isMarked: index % 2 === 1,
    }))
    .filter((piece) => piece.text !== '')
}
