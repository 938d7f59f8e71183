import { doorsPart } from '../e2e/doors/doors-part.ts'
import { clientsPart } from './clients/clients-part.ts'
import { composePart } from './compose/compose-part.ts'
import { imagePart } from './image/image-part.ts'
import { modelPart } from './model/model-part.ts'
import { otelPart } from './otel/otel-part.ts'
import { formatsPart } from './formats/formats-part.ts'
import type { PlatformPart } from './platform-part.ts'
import { pythonPart } from './python/python-part.ts'
import { syslogPart } from './syslog/syslog-part.ts'
import { upgradePart } from '../upgrade/upgrade-part.ts'

export const parts: Readonly<Record<string, PlatformPart>> = {
  image: imagePart,
  compose: composePart,
  upgrade: upgradePart,
  model: modelPart,
  python: pythonPart,
  otel: otelPart,
  doors: doorsPart,
  clients: clientsPart,
  formats: formatsPart,
  syslog: syslogPart,
}

export const usage = `scripts/test --platform PART…

Shows what needs more than Node, Java and Maven. It is fetched into SLUICE_PLATFORM_CACHE (~/.cache/sluice-platform) from package registries.

${Object.entries(parts)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join('\n')}
`

/** The named parts without duplicates, or what is wrong with the names. */
export function chooseParts(names: readonly string[]): { chosen: string[] } | { problem: string } {
  const known = Object.keys(parts).join(', ')
  if (names.length === 0) return { problem: `--platform needs a part: ${known}` }
  const unknown = names.filter((name) => !Object.hasOwn(parts, name))
  if (unknown.length > 0)
    return { problem: `there is no platform part ${unknown.join(', ')}; known: ${known}` }
  return { chosen: [...new Set(names)] }
}
