import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, PermanentError } from '#runtime/errors.ts'
import { parseProbes } from './parse-probes.ts'
import type { Probe } from './probe.ts'

/** Probes by id, with a digest that identifies the set. */
export interface ProbeSet {
  probes: ReadonlyMap<string, Probe>
  /** SHA-256 over the files. A run continues only with the probes that it began with. */
  digest: string
}

/** Our own probes. */
export const ownProbesFolder = join(import.meta.dirname, 'files')

/**
 * Reads files, and all .yaml files of folders. Throws PermanentError (`PROBES_INVALID`) with file, line and
 * reason of every mistake.
 */
export function readProbes(places: readonly string[]): ProbeSet {
  const hash = createHash('sha256')
  const problems: string[] = []
  const probes = new Map<string, Probe>()
  for (const file of places.flatMap((place) => readable(place, filesOf))) {
    const text = readable(file, (path) => readFileSync(path, 'utf8'))
    hash.update(`${Buffer.byteLength(text)}:${text}`)
    const parsed = parseProbes(text)
    if (!parsed.ok) {
      problems.push(...parsed.problems.map(({ line, reason }) => `${file}:${line}: ${reason}`))
      continue
    }
    for (const probe of parsed.probes) {
      if (probes.has(probe.id)) problems.push(`${file}: the id ${probe.id} stands in another file too`)
      probes.set(probe.id, probe)
    }
  }
  if (problems.length > 0) throw new PermanentError('PROBES_INVALID', problems.join('\n'))
  return { probes, digest: hash.digest('hex') }
}

function filesOf(place: string): string[] {
  if (!statSync(place).isDirectory()) return [place]
  return readdirSync(place)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(place, name))
}

function readable<T>(place: string, read: (place: string) => T): T {
  try {
    return read(place)
  } catch (error) {
    throw new PermanentError('PROBES_INVALID', `${place} cannot be read: ${messageOf(error)}`, {
      cause: error,
    })
  }
}
