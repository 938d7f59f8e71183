import { pino, type Logger } from 'pino'

export type Log = Logger

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/**
 * JSON lines on standard output: `ts` (ISO 8601), `level` as text, `service`, `msg`. What people wrote (bodies, snippets) and
 * secrets never go in.
 */
export function createLog(service: string, level: LogLevel): Log {
  return pino({
    level,
    base: { service },
    messageKey: 'msg',
    timestamp: () => `,"ts":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
  })
}

/** Type, code, message and stack of an error, with its causes; not its other fields, which can hold anything. */
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
