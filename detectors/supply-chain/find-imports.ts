import { findMatches } from '../find-matches.ts'
import type { Install } from './install.ts'
import { isInvented } from './invented-names.ts'
import { isKnownPackage, type Ecosystem } from './known-packages.ts'
import { imitates } from './typosquat.ts'

const imports: readonly (readonly [Ecosystem, RegExp])[] = [
  [
    'pypi',
    /^[ \t]{0,40}(?:from[ \t]{1,4}([a-z]\w{2,60})(?:\.\w{1,60}){0,6}[ \t]{1,4}import\b|import[ \t]{1,4}([a-z]\w{2,60})\b(?![ \t]{0,4}from))/gm,
  ],
  ['npm', /\b(?:from|require\(|import\(|import)[ \t]{0,4}["']([a-z][\w.-]{2,80})(?:\/[\w./-]{0,120})?["']/gi],
]
/** A server or tool that a configuration starts through npx: `"command": "npx", "args": ["-y", "name"]`. */
const configured =
  /"command"\s{0,4}:\s{0,4}"(?:npx|bunx|uvx|pnpx)"\s{0,4},\s{0,40}"args"\s{0,4}:\s{0,4}\[\s{0,40}((?:"-{1,2}[\w-]{1,20}"\s{0,4},\s{0,40}){0,4})"(@?[\w./-]{2,100})(?:@[\w.^~-]{1,30})?"/g
const max = 100
const gate = /\bimport\b|\brequire\(|"command"/

/** Imports of names that look made up or mistyped, and unknown programs that are started unasked. */
export function findImports(text: string): Install[] {
  if (!gate.test(text)) return []
  const found: Install[] = []
  for (const [ecosystem, pattern] of imports)
    for (const match of findMatches(text, pattern, max)) {
      const name = (match[1] ?? match[2] ?? '').toLowerCase()
      const kind = kindOf(ecosystem, name)
      if (kind !== null) found.push({ value: 4, kind, ...placeOf(match), name })
    }
  for (const match of findMatches(text, configured, max)) {
    const name = (match[2] ?? '').toLowerCase()
    const isKnown = isKnownPackage('npm', name) || isKnownPackage('pypi', name)
    const isScoped = name.startsWith('@')
    found.push({
      ...(isKnown
        ? { value: 2, kind: 'known_package' }
        : { value: isScoped ? 3 : 4, kind: 'unknown_program' }),
      ...placeOf(match),
    })
  }
  return found
}

function kindOf(ecosystem: Ecosystem, name: string): string | null {
  if (isInvented(ecosystem, name)) return 'invented_name'
  const imitated = name.length > 6 ? imitates(ecosystem, name) : null
  // A word that a known name only lengthens is a word: `network`.
  return imitated === null || imitated.startsWith(name) ? null : 'imitated_name'
}

function placeOf({ index, 0: text }: RegExpExecArray) {
  return { start: index, end: index + text.length }
}
