import type { OnDefect } from '../../capture/record/raw-answer.ts'
import { messageOf } from './capturing/message-of.ts'

/**
 * Warns the program's operator, at most once a minute per `topic`, so that a repeated fault does not fill the
 * log.
 */
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

/** Reports a defect in our stream parser. */
export function unreadReporter(warn: Warn): OnDefect {
  return (error) => {
    warn('unread', `a stream could not be parsed and is recorded unparsed: ${messageOf(error)}`)
  }
}

function emitWarning(message: string): void {
  process.emitWarning(message, 'SluiceWarning')
}
