import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#runtime/errors.ts'
import { runProgram } from '../engine/run-program.ts'
import { CannotRun } from '../platform-part.ts'

/** What the vendors publish of their formats. Read, never run but for the cards; none of it is shipped. */
const packages = {
  slack: '@slack/types@3.2.0',
  pagerduty: '@pagerduty/pdjs@2.2.4',
  cards: 'adaptivecards@3.0.6',
  jira: '@atlaskit/adf-schema@57.7.22',
} as const
export type VendorPackage = keyof typeof packages

/** The folder of each package in the cache, without its dependencies. Throws {@link CannotRun}. */
export async function fetchVendorPackages(cache: string): Promise<Record<VendorPackage, string>> {
  const folders: [string, string][] = []
  for (const [name, spec] of Object.entries(packages)) folders.push([name, await unpack(cache, spec)])
  return Object.fromEntries(folders) as Record<VendorPackage, string>
}

async function unpack(cache: string, spec: string): Promise<string> {
  const place = join(cache, 'formats', spec.replace(/[@/]/g, '-'))
  await mkdir(place, { recursive: true })
  if ((await readdir(place)).includes('package')) return join(place, 'package')
  try {
    await runProgram('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', place, spec])
    const [archive = ''] = await readdir(place)
    await runProgram('tar', ['xzf', join(place, archive), '-C', place])
  } catch (error) {
    await rm(place, { recursive: true })
    throw new CannotRun(`${spec} cannot be fetched (${messageOf(error)})`, { cause: error })
  }
  return join(place, 'package')
}
