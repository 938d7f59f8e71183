import { isKnownPackage, knownPackages, type Ecosystem } from './known-packages.ts'

/** Short names have too many genuine neighbours. */
const minLength = 5

/** The best-known package that a name is one typo away from. Null for known names and distant ones. */
export function imitates(ecosystem: Ecosystem, name: string): string | null {
  const plain = normal(name)
  if (
    isKnownPackage(ecosystem, name) ||
    isKnownPackage(ecosystem, plain) ||
    plain.length < minLength ||
    name.startsWith('@')
  )
    return null
  for (const { candidate, target } of targets[ecosystem]) {
    // With other separators it is a different package on npm, and the same on PyPI.
    if (ecosystem === 'pypi' && target === plain) return null
    if (isOneSlip(plain, target)) return candidate
  }
  return null
}

/** Precomputed: this was most of the cost of 65 Ki of names. */
const targets = { pypi: targetsOf('pypi'), npm: targetsOf('npm') } satisfies Record<Ecosystem, unknown>

/** Modules of Python itself, which need no package. */
const ownModules = [
  'sqlite3',
  'asyncio',
  'argparse',
  'subprocess',
  'dataclasses',
  'multiprocessing',
  'unittest',
]

/** A name that imitates a known one behind `py-` or before `-py` and the like. */
export function imitatesWithin(ecosystem: Ecosystem, name: string): string | null {
  const core = normal(name).replace(/^(?:py|python|node|js)-|-(?:py|python|python3|js|node)$/g, '')
  if (core === normal(name) || core.length < minLength) return null
  const own = ecosystem === 'pypi' ? ownModules.find((module) => isOneSlip(core, module)) : undefined
  return own ?? imitates(ecosystem, core)
}

/** Whether a name is one typo away from another; short ones have too many neighbours. */
export function isSlipOf(name: string, target: string): boolean {
  return target.length >= minLength && isOneSlip(name, target)
}

function targetsOf(ecosystem: Ecosystem) {
  return Array.from(knownPackages[ecosystem], (candidate) => ({
    candidate,
    target: normal(candidate),
  })).filter(({ target }) => target.length >= minLength)
}

function normal(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-')
}

/** One letter added, removed or replaced, or two swapped. An added digit is a version, not a typo. */
function isOneSlip(name: string, target: string): boolean {
  if (Math.abs(name.length - target.length) > 1 || name === target) return false
  let at = 0
  while (at < name.length && name[at] === target[at]) at += 1
  const [restOfName, restOfTarget] = [name.slice(at), target.slice(at)]
  if (name.length > target.length)
    return restOfName.slice(1) === restOfTarget && !/^\d$/.test(restOfName.charAt(0))
  if (name.length < target.length)
    return restOfTarget.slice(1) === restOfName && !/^\d$/.test(restOfTarget.charAt(0))
  if (restOfName.slice(1) === restOfTarget.slice(1))
    return !/^\d/.test(restOfName) || !/^\d/.test(restOfTarget)
  return (
    restOfName[0] === restOfTarget[1] &&
    restOfName[1] === restOfTarget[0] &&
    restOfName.slice(2) === restOfTarget.slice(2)
  )
}
