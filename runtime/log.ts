import { pino, type DestinationStream, type Logger } from 'pino'

export type Log = Logger

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Bytes kept while standard output blocks. Further lines are dropped, and their count is logged later. */
const heldBytes = 1024 * 1024

/**
 * Standard output that drops lines instead of blocking. On a full disk pino alone ends the process, which
 * then hangs: at exit it writes until there is space. Lines wait for space, and an exit does not wait.
 */
function openOutput(onLeftOut: (lines: number) => void): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false })
  const flush = output.flushSync.bind(output)
  const write = output.write.bind(output)
  let [isTaking, held, leftOut] = [true, 0, 0]
  output.on('error', () => (isTaking = false))
  output.on('write', () => {
    const lines = leftOut
    ;[isTaking, held, leftOut] = [true, 0, 0]
    if (lines > 0) onLeftOut(lines)
  })
  output.write = (line) => {
    if (isTaking || (held += Buffer.byteLength(line)) <= heldBytes) return write(line)
    leftOut++
    // Adds nothing, and retries what is kept.
    return write('')
  }
  output.flushSync = () => {
    if (isTaking) flush()
  }
  return output
}

/**
 * JSON lines on standard output: `ts` (ISO 8601), `level` as text, `service`, `msg`. Content (bodies,
 * snippets) and secrets are never logged.
 */
export function createLog(service: string, level: LogLevel): Log {
  const log: Log = pino(
    {
      level,
      base: { service },
      messageKey: 'msg',
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    openOutput((lines) => log.warn({ lines }, 'log lines dropped: standard output was blocked')),
  )
  return log
}

/**
 * Type, code, message and stack of an error and its causes. Its other fields can hold anything and are left
 * out.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) }
  const code = 'code' in error ? String(error.code) : undefined
  return {
    type: error.name,
    code,
    message: error.message,
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  }
}
