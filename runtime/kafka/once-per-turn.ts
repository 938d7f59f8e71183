/** Runs `work` once at the end of the current turn of the event loop, however many calls the turn has. */
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
