/** `work` once at the end of the turn of the event loop, however often it is asked for in that turn. */
export function oncePerTurn(work: () => void): () => void {
  let isPlanned = false
  return () => {
    if (isPlanned) return
    isPlanned = true
    setImmediate(() => {
      isPlanned = false
      work()
    })
  }
}
