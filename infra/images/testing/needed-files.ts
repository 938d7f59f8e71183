import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const statements = [
  /^(?:import|export)\b[^'"]*?\bfrom '([^']+)'/gm,
  /^import '([^']+)'/gm,
  /\bimport\('([^']+)'\)/g,
  /new URL\('([^']+)', import\.meta\.url\)/g,
]
/** `join(import.meta.dirname, 'a', 'b')`, and further joins to a name defined so. */
const joins = /(?:const (\w+) = )?\bjoin\((import\.meta\.dirname|\w+)((?:, '[^']*')*)/g

/**
 * All files of the repository that these reach: by import, as worker thread, or by a path relative to a file.
 */
export function neededFiles(root: string, entries: readonly string[]): Set<string> {
  const found = new Set<string>()
  const open = [...entries]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue
    found.add(file)
    if (/\.(ts|tsx|js|cjs)$/.test(file)) open.push(...namedBy(root, file))
    if (file.endsWith('tsconfig.json')) open.push(...extendedBy(root, file))
  }
  return found
}

function namedBy(root: string, file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8')
  const imported = statements
    .flatMap((statement) => [...source.matchAll(statement)].map(([, name = '']) => name))
    .filter((name) => name.startsWith('.') || name.startsWith('#') || !name.includes(':'))
    .flatMap((name) => pathOf(file, name))
  return [...imported, ...joinedPaths(root, file, source)]
}

/** Empty for packages, which are no files of the repository. */
function pathOf(file: string, name: string): string[] {
  if (name.startsWith('#')) return [name.slice(1)]
  if (name.startsWith('.')) return [join(dirname(file), name)]
  return /^[\w-]+\.tsx?$/.test(name) ? [join(dirname(file), name)] : []
}

function joinedPaths(root: string, file: string, source: string): string[] {
  const known = new Map([['import.meta.dirname', dirname(file)]])
  const paths: string[] = []
  for (const [, name, base = '', rest = ''] of source.matchAll(joins)) {
    const start = known.get(base)
    if (start === undefined) continue
    const path = normalize(join(start, ...[...rest.matchAll(/'([^']*)'/g)].map(([, part = '']) => part)))
    if (name !== undefined) known.set(name, path)
    paths.push(path)
  }
  const isMade = (path: string) => /^(node_modules|services\/dashboard\/dist)(\/|$)/.test(path)
  // The root folder is no requirement, and separate steps create the output of npm and Vite.
  return paths.filter((path) => !/^\.(\.|$)/.test(path) && !isMade(path) && existsSync(join(root, path)))
}

function extendedBy(root: string, file: string): string[] {
  const { extends: base } = JSON.parse(readFileSync(join(root, file), 'utf8')) as { extends?: string }
  return base === undefined ? [] : [join(dirname(file), base)]
}
