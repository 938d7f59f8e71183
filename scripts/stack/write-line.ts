import { writeSync } from 'node:fs'

/**
 * A line to standard output. What a file on a full disk does not take is left out: by console.log it would end who says it, and with a supervisor all that it looks
 * after, the gateway among them, for good.
 */
export function writeLine(line: string): void {
  try {
    writeSync(process.stdout.fd, `${line}\n`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
