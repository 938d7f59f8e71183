import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '#runtime/errors.ts'

/** Allowed in shipped packages: licences without a duty to publish. */
const shipped = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  // Of fonts: bundled with software, their names unchanged.
  'OFL-1.1',
  'Unlicense',
])
/** Only used to build and test: file-level copyleft, and data under attribution. */
const usedToBuild = new Set([...shipped, 'CC-BY-4.0', 'MPL-2.0'])

/** Packages whose licence is only in a separate file; read by hand. */
const readByHand: Readonly<Record<string, string>> = {
  '@kafkajs/confluent-schema-registry': 'MIT',
  'cohere-ai': 'MIT',
  ssh2: 'MIT',
}

interface LockedPackage {
  license?: string
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
}

const root = join(import.meta.dirname, '..')
const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockedPackage>
}
const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
const problems = (await Promise.all(packages.map(problemOf))).filter((problem) => problem !== undefined)
if (problems.length > 0) {
  console.error(`licences that are not allowed (scripts/licences.ts):\n${problems.sort().join('\n')}`)
  process.exit(1)
}
console.log(`${packages.length} packages, all with allowed licences`)

async function problemOf([path, locked]: [string, LockedPackage]): Promise<string | undefined> {
  const name = path.replace(/^.*node_modules\//, '')
  const licence = locked.license ?? (await installedLicence(path)) ?? readByHand[name]
  // A package for another platform is not installed here; it has the licence of its siblings.
  if (licence === undefined && locked.optional === true) return undefined
  const agreed = locked.dev === true || locked.devOptional === true ? usedToBuild : shipped
  if (licence !== undefined && isAgreed(licence, agreed)) return undefined
  return `  ${name}: ${licence ?? 'says none'}`
}

/** For an SPDX expression without exceptions: every part of an AND, one part of an OR. */
function isAgreed(expression: string, agreed: ReadonlySet<string>): boolean {
  const bare = expression.replaceAll(/[()]/g, '')
  if (bare.includes(' OR ')) return bare.split(' OR ').some((part) => isAgreed(part, agreed))
  return bare.split(' AND ').every((part) => agreed.has(part.trim()))
}

async function installedLicence(path: string): Promise<string | undefined> {
  try {
    const manifest = JSON.parse(await readFile(join(root, path, 'package.json'), 'utf8')) as {
      license?: string
    }
    return manifest.license
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
