import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gateways } from './roster.ts'

/** A disk for each gateway's spool that can be filled up. */
export interface SpoolDisks {
  directoryOf(gateway: string): string
  /** Takes what is left of it; the function gives it back. */
  fill(gateway: string): () => void
  release(): void
}

// Twice what a spool may have.
const diskMb = 40
export const spoolMaxBytes = 20 * 1024 * 1024

/** Null where this user may not mount one: only root may, and not in every container. */
export function mountSpoolDisks(directory: string): SpoolDisks | null {
  const mounted: string[] = []
  const release = () => {
    // Lazily: a run that is broken off leaves processes that still have files open.
    for (const disk of mounted.splice(0)) execFileSync('umount', ['-l', disk])
  }
  process.once('exit', release)
  try {
    for (const gateway of gateways) {
      const disk = join(directory, `disk-${gateway}`)
      mkdirSync(disk)
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMb}m`, 'tmpfs', disk], { stdio: 'pipe' })
      mounted.push(disk)
    }
  } catch {
    release()
    return null
  }
  return {
    directoryOf: (gateway) => join(directory, `disk-${gateway}`, 'spool'),
    fill(gateway) {
      const disk = join(directory, `disk-${gateway}`)
      const filler = join(disk, 'filler')
      const { bavail, bsize } = statfsSync(disk)
      writeFileSync(filler, Buffer.alloc(bavail * bsize))
      return () => rmSync(filler)
    },
    release,
  }
}
