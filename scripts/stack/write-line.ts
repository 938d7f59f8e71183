import { writeSync } from 'node:fs'

/**
 * A line to standard output. What it does not take (a full disk, a pipe that nobody reads, a terminal that is gone) is left out, as by console.log: an error would
 * end who says it, and with a supervisor all that it looks after, the gateway among them, for good. console.log tells of a file's only later, when nobody listens.
 */
export function writeLine(line: string): void {
  try {
    writeSync(process.stdout.fd, `${line}\n`)
  } catch {
    // There is nowhere else to say it.
  }
}
