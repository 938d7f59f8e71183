/** Tells the program's operator, once for each `topic` in a minute: a fault that repeats must not fill a log. */
export type Warn = (topic: string, message: string) => void

const quietMs = 60_000

export function createWarn(emit: (message: string) => void = emitWarning): Warn {
  const saidAt = new Map<string, number>()
  return (topic, message) => {
    const nowMs = Date.now()
    if (nowMs - (saidAt.get(topic) ?? -Infinity) < quietMs) return
    saidAt.set(topic, nowMs)
    emit(message)
  }
}

function emitWarning(message: string): void {
  process.emitWarning(message, 'SluiceWarning')
}
