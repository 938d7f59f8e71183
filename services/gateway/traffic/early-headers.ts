/** An answer that has begun. */
export interface BegunAnswer {
  /** Sends its headers, unless they have gone with the first bytes meanwhile. */
  sendHeaders(): void
}

/**
 * A provider may send its headers long before it has something to say: those that no bytes followed in the same turn of the event loop go
 * alone. One look for all answers that begin in a turn: a look for each cost 8 of 98 µs a call.
 */
export function createEarlyHeaders(): (answer: BegunAnswer) => void {
  let begun: BegunAnswer[] = []
  const send = () => {
    const answers = begun
    begun = []
    for (const answer of answers) answer.sendHeaders()
  }
  return (answer) => {
    if (begun.length === 0) setImmediate(send)
    begun.push(answer)
  }
}
