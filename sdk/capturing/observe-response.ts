/** Hears how the body of an answer passes. After `end`, `fail` or `abandon` nothing more comes. */
export interface BodyObserver {
  chunk(bytes: Uint8Array): void
  end(): void
  fail(error: unknown): void
  /** The reader left it, or lost it unread. */
  abandon(): void
}

/** Answers whose body is never read: told when the garbage collector finds them. */
const unread = new FinalizationRegistry<BodyObserver>((observer) => {
  observer.abandon()
})

/** node-fetch and its like have a stream of Node for a body, which cannot be heard without being read. */
export function canBeObserved({ body }: Response): boolean {
  return body === null || typeof (body as Partial<ReadableStream>).getReader === 'function'
}

/** The same answer, its body heard while the program reads it: no byte is read ahead, none is held back. */
export function observeResponse(response: Response, observer: BodyObserver): Response {
  const { body, status, statusText, headers, url } = response
  if (body === null) {
    observer.end()
    return response
  }
  const observed = observeBody(body, observer)
  const copy = new Response(observed, { status, statusText, headers })
  unread.register(observed, observer)
  // A Response that is made has no address; clients print it in their logs.
  Object.defineProperty(copy, 'url', { value: url })
  return copy
}

function observeBody(
  body: ReadableStream<Uint8Array>,
  observer: BodyObserver,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let opened: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined
  // At the first read: a body that came to no new Response is still the program's to read.
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
