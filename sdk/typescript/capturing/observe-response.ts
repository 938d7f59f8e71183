/** Observes the body of an answer. Nothing follows `end`, `fail` or `abandon`. */
export interface BodyObserver {
  chunk(bytes: Uint8Array): void
  end(): void
  fail(error: unknown): void
  /** The reader cancelled, or dropped the body unread. */
  abandon(): void
}

/** Answers whose body is never read, reported by the garbage collector. */
const unread = new FinalizationRegistry<BodyObserver>((observer) => {
  observer.abandon()
})

/** node-fetch and others use Node streams, which cannot be observed without being read. */
export function canBeObserved({ body }: Response): boolean {
  return body === null || typeof (body as Partial<ReadableStream>).getReader === 'function'
}

/** The same answer with an observed body: nothing is read ahead or held back. */
export function observeResponse(response: Response, observer: BodyObserver): Response {
  const { body, status, statusText, headers, url } = response
  if (body === null) {
    observer.end()
    return response
  }
  const observed = observeBody(body, observer)
  const copy = new Response(observed, { status, statusText, headers })
  unread.register(observed, observer)
  // A constructed Response has no URL, and clients log it.
  Object.defineProperty(copy, 'url', { value: url })
  return copy
}

function observeBody(
  body: ReadableStream<Uint8Array>,
  observer: BodyObserver,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let opened: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined
  // On the first read: if constructing the Response failed, the program can still read the body.
  const reader = () => (opened ??= body.getReader() as NonNullable<typeof opened>)
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader().read()
          if (done) {
            observer.end()
            controller.close()
          } else {
            observer.chunk(value)
            controller.enqueue(value)
          }
        } catch (error) {
          observer.fail(error)
          controller.error(error)
        }
      },
      cancel(reason) {
        observer.abandon()
        return reader().cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
