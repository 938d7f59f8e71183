import { writeSync } from 'node:fs'

/**
 * Writes a line to standard output and ignores errors (a full disk, a closed pipe, a lost terminal), like
 * console.log: an error would end the process, and a supervisor with all its processes, for good. console.log
 * reports a file's errors later, when nothing listens.
 */
export function writeLine(line: string): void {
  try {
    writeSync(process.stdout.fd, `${line}\n`)
  } catch {
    // There is no other place to report it.
  }
}
