import type { Install, Judge } from './install.ts'
import { furtherSources, isOfKnownOwner } from './further-sources.ts'
import { isInvented } from './invented-names.ts'
import { imitates, imitatesWithin } from './typosquat.ts'
import {
  knownInstallers,
  isKnownPackage,
  knownRegistries,
  maliciousPackages,
  wrongNames,
  type Ecosystem,
} from './known-packages.ts'
import { findGated, gatePattern } from '../gate/gated-pattern.ts'
import { wordStartsOf } from '../gate/word-starts.ts'

const url = String.raw`["']?(https?:\/\/[^\s"'|)>]{1,400})["']?`
const shell = String.raw`(?:(?:sudo|env)\s+(?:-\S+\s+)?)?(?:\/(?:usr\/)?bin\/)?(?:ba|z|da|k|fi)?sh\b|(?:sudo\s+)?(?:python3?|node|perl|ruby|php)\b(?!\s+-[a-zA-Z]{0,4}[cmenp]\b)|iex\b|invoke-expression\b`
const fetchers = String.raw`(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod)`
/** Up to the third fetch after the first: otherwise each of 13,000 in a row looks ahead as far. */
const without = String.raw`(?!\b${fetchers}\b)`
const upTo = (units: number, ends: string) =>
  String.raw`(?:${without}[^\n${ends}]){1,${units}}?(?:\b${fetchers}\b(?:${without}[^\n${ends}]){1,${units}}?){0,2}`
const max = 100

const rules: readonly (readonly [RegExp, Judge])[] = [
  [
    // Looks ahead for the pipe, and a URL ends where it ends: otherwise 8 Ki of "curl/https://" take seconds.
    new RegExp(
      String.raw`\b${fetchers}\b(?=${upTo(800, '|;')}\|\s*(?:${shell}))[^\n|;]{0,200}?${url}(?=[\s"'|)>])[^\n|;]{0,200}\|\s*(?:${shell})`,
      'gi',
    ),
    pipedToShell,
  ],
  // Through other programs, from an address without a scheme, or by a program's own means: never harmless.
  [
    new RegExp(
      String.raw`\b${fetchers}\b${upTo(400, ';')}\|\s{0,4}(?:${shell}|tar\b)|(?<!\S)(?:\.|source)\s{1,4}<\(\s{0,4}${fetchers}\b|\bexec\([^\n]{0,80}\b(?:urlopen|requests\.get)\(|\bdeno run\s[^\n]{0,60}https?:|\s-outfile\b`,
      'gi',
    ),
    () => ({ value: 3, kind: 'download' }),
  ],
  [
    // Into a file that is then run; not data files.
    /\b(?:curl|wget)\s(?:(?!\b(?:curl|wget)\s)[^\n|;<>]){1,300}>\s{0,4}(?!\/dev\/|&)["']?([\w./~${}-]{1,100})/gi,
    savedToFile,
  ],
  [
    new RegExp(
      String.raw`(?:\b(?:bash|sh|zsh|eval|source|python3?)\b[^\n]{0,20}(?:<\(|\$\(|\x60)|\biex\s*\(\s*\(?)[^\n]{0,80}?\b(?:${fetchers}|downloadstring)\b[^\n]{0,120}?${url}`,
      'gi',
    ),
    pipedToShell,
  ],
  [/\bdownloadstring\(\s*["'](https?:\/\/[^\s"']{1,400})["']\s*\)\s*\)?\s*\|\s*iex\b/gi, pipedToShell],
  [
    /\b(?:pip3?|uv|poetry|npm|pnpm|yarn|npx)\b[^\n]{0,60}?\s["']?((?:git\+(?:https?|ssh|git)|git|https?):\/\/[^\s"'\x60]{1,300}|github:[\w.-]{1,80}\/[^\s"'\x60]{1,120})/gi,
    fromUrl,
  ],
  [/--trusted-host[ =](\S{1,200})/gi, () => ({ value: 4, kind: 'unverified_registry' })],
  [
    /\bstrict-ssl[ =]false\b|\bNODE_TLS_REJECT_UNAUTHORIZED=["']?0/gi,
    () => ({ value: 4, kind: 'unverified_registry' }),
  ],
  [
    /(?:--(?:extra-)?index-url|--registry|\bregistry)[ =]["']?(https?:\/\/[^\s"'\x60]{1,300})/gi,
    otherRegistry,
  ],
  [
    /\btrust_remote_code\s*=\s*True\b/g,
    (match) =>
      /revision\s*=/.test(after(match)) || isOfKnownOwner(after(match))
        ? { value: 3, kind: 'remote_code' }
        : { value: 4, kind: 'unpinned_remote_code' },
  ],
  [
    /\btorch\.hub\.load\(|\bdocker (?:run|pull)\b|\bgo (?:install|get) \S|\bcargo (?:install|add) \S|\bgem install \S|\b(?:brew|apt|apt-get|dnf|yum|apk|choco|winget|snap|conda|mamba) (?:-\S+ )?install\b|\bcomposer require\b/gi,
    () => ({ value: 3, kind: 'install' }),
  ],
  // Fetched to be run later, other package managers, and manifests: never vouched for.
  [
    /\bwget\s+\S|\bcurl\b(?:(?!\bcurl\s)[^\n|]){0,200}?\s(?:-[a-zA-Z]{0,6}[oO]\b|--output\b|--remote-name\b)|\bgit clone\s|\b(?:helm|cpan|cpanm|luarocks|opam|cabal|nuget|dotnet add \S{1,80}) (?:install|repo add|package)\b|\binstall-(?:module|package)\b|\binstall\.packages\(|"(?:dev|peer)?dependencies"\s*:|\brequirements\.txt\b|\b(?:from|import)\s+["']https?:\/\//gi,
    () => ({ value: 3, kind: 'download' }),
  ],
]
const packageCommands: readonly (readonly [Ecosystem, RegExp])[] = [
  [
    'pypi',
    /(?:\b(?:pip3?|uv pip)\s+install|\b(?:uv|poetry|pdm)\s+add|\bpipx?\s+(?:install|run)|\buvx)[ \t]+([^\n|;&\x60#)]{1,400})/gi,
  ],
  [
    'npm',
    /(?:\b(?:npm|pnpm)\s+(?:install|i|add|exec)|\b(?:yarn|bun)\s+add|\bnpx|\bbunx|\bpnpm\s+dlx)[ \t]+([^\n|;&\x60#)]{1,400})/gi,
  ],
]

const gatedRules = [...rules, ...furtherSources].map(
  ([pattern, judge]) => [gatePattern(pattern), judge] as const,
)
const gatedCommands = packageCommands.map(
  ([ecosystem, pattern]) => [ecosystem, gatePattern(pattern)] as const,
)

/**
 * Commands in a text that install or run foreign code, each with its worst assessment; includes harmless
 * ones. Commands that prose warns against are left to the judge. Tool arguments are executed whatever stands
 * beside them.
 */
export function findInstalls(text: string, isProse = false): Install[] {
  const found: Install[] = []
  const starts = wordStartsOf(text)
  for (const [pattern, judge] of gatedRules) {
    for (const match of findGated(text, starts, pattern, max)) {
      const judged = judge(match)
      if (judged === null) continue
      const isWarning = isProse && judged.value > 3 && isWarnedOf(match)
      const place = { start: match.index, end: match.index + match[0].length }
      found.push(isWarning ? { value: 3, kind: 'warning', ...place } : { ...judged, ...place })
    }
  }
  for (const [ecosystem, pattern] of gatedCommands) {
    for (const match of findGated(text, starts, pattern, max)) {
      const judged = judgePackages(ecosystem, match[1] ?? '')
      if (judged !== null)
        found.push({ ...judged, start: match.index, end: match.index + match[0].trimEnd().length })
    }
  }
  return found
}

function pipedToShell(match: RegExpMatchArray): Omit<Install, 'start' | 'end'> {
  const address = parse(match[1])
  if (address?.protocol === 'http:') return { value: 5, kind: 'unencrypted_to_shell' }
  if (address !== null && isKnownInstaller(address)) return { value: 3, kind: 'known_installer' }
  return { value: 4, kind: 'piped_to_shell' }
}

const dataFile = /\.(?:json|jsonl|csv|tsv|txt|xml|html?|md|log|ya?ml|png|jpe?g|gif|svg|pdf|ics|sql)["']?$/i

function savedToFile(match: RegExpMatchArray): Omit<Install, 'start' | 'end'> | null {
  return dataFile.test(match[1] ?? '') ? null : { value: 3, kind: 'download' }
}

/** A warning earlier in the same sentence, not negated as in "Don't forget to run …". */
const warns =
  /(?:\b(?:never|avoid|do not|don['’]t|should(?: not|n['’]t)|must not|refrain from|instead of|rather than)\b)(?![^.!?;:\n]{0,120}\b(?:forget|skip|hesitate|fail|miss|worry|without|unless|until|just|but)\b)[^.!?;:\n]{0,120}$/i
/** Directly after it. */
const isCalledBad =
  /^[^.!?;:\n|&]{0,40}\b(?:is|are|can be) (?:\w{1,12} ){0,2}(?:dangerous|unsafe|risky|insecure|a (?:bad idea|security risk)|not (?:safe|recommended))\b/i

function isWarnedOf(match: RegExpMatchArray): boolean {
  const { input = '', index = 0 } = match
  const end = index + match[0].length
  return (
    warns.test(input.slice(Math.max(0, index - 160), index)) || isCalledBad.test(input.slice(end, end + 120))
  )
}

function fromUrl(match: RegExpMatchArray): Omit<Install, 'start' | 'end'> | null {
  const source = match[1] ?? ''
  const before = match[0].slice(0, match[0].lastIndexOf(source))
  if (/(?:index-url|registry|find-links|proxy)[ =]["']?$/i.test(before)) return null
  if (source.startsWith('http://') || source.startsWith('git://') || source.startsWith('git+http:'))
    return { value: 5, kind: 'unencrypted_source' }
  // A commit or digest is immutable; its owner can move a branch or a tag.
  if (/(?:@|#(?:sha256=|commit=)?)[0-9a-f]{7,64}\b/i.test(source)) return { value: 3, kind: 'pinned_source' }
  const host = parse(source.replace(/^git\+/, ''))?.hostname ?? ''
  return knownRegistries.has(host) ? { value: 3, kind: 'install' } : { value: 4, kind: 'unpinned_source' }
}

function otherRegistry(match: RegExpMatchArray): Omit<Install, 'start' | 'end'> | null {
  const address = parse(match[1])
  if (address === null) return { value: 3, kind: 'other_registry' }
  if (knownRegistries.has(address.hostname)) return null
  return address.protocol === 'http:' && !/^(?:localhost|127\.)/.test(address.hostname)
    ? { value: 4, kind: 'unverified_registry' }
    : { value: 3, kind: 'other_registry' }
}

/** The worst package of a command. An unknown one cannot be vouched for. */
function judgePackages(ecosystem: Ecosystem, given: string): Omit<Install, 'start' | 'end'> | null {
  let worst: Omit<Install, 'start' | 'end'> | null = null
  for (const word of given.trim().split(/\s+/)) {
    const name =
      /^["']?((?:@[\w.-]+\/)?[A-Za-z0-9][\w.-]*)(?:\[[\w,-]*\])?(?:(?:==|@)([\w.^~*-]+)|[<>=!~][^\s]*)?["']?[.,:]?$/.exec(
        word,
      )
    // Options, paths and prose end the list of packages.
    if (name === null) {
      if (word.startsWith('-')) continue
      break
    }
    const judged = judgePackage(ecosystem, (name[1] ?? '').replace(/[.]+$/, '').toLowerCase(), name[2] ?? '')
    if (judged.value > (worst?.value ?? 0)) worst = judged
  }
  return worst
}

function judgePackage(ecosystem: Ecosystem, name: string, version: string): Omit<Install, 'start' | 'end'> {
  const malicious = maliciousPackages[ecosystem]
  if (malicious.has(name) || malicious.has(`${name}@${version}`))
    return { value: 5, kind: 'malicious_package' }
  if (wrongNames[ecosystem].has(name)) return { value: 4, kind: 'wrong_name' }
  if (isKnownPackage(ecosystem, name)) return { value: 2, kind: 'known_package' }
  if (imitates(ecosystem, name) !== null || imitatesWithin(ecosystem, name) !== null)
    return { value: 4, kind: 'imitated_name' }
  return isInvented(ecosystem, name)
    ? { value: 4, kind: 'invented_name' }
    : { value: 3, kind: 'unknown_package' }
}

function isKnownInstaller({ hostname, pathname }: URL): boolean {
  if (knownInstallers.has(hostname)) return true
  const owner = pathname.split('/')[1]?.toLowerCase() ?? ''
  return knownInstallers.has(`${hostname}/${owner}/`)
}

function parse(address: string | undefined): URL | null {
  return address === undefined ? null : URL.parse(address)
}

function after(match: RegExpMatchArray): string {
  const from = Math.max(0, (match.index ?? 0) - 200)
  return (match.input ?? '').slice(from, (match.index ?? 0) + 200)
}
