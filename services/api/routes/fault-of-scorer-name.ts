import { builtInScorers, customScorerName } from '#schemas/verdicts.ts'

/** Wrong, missing or extra letters in a mistyped name. */
const maxSlips = 2

/**
 * What is wrong with a scorer name that is neither built in nor has scored a call. The API has no list of
 * custom scorers: they are in the scorer's file. A name close to a built-in one is taken as a typo, because a
 * run without a scorer looks like one without findings. A longer one, such as `pii_detection_2`, may be
 * custom.
 */
export function faultOfScorerName(name: string): string | undefined {
  const shown = JSON.stringify(name)
  if (!customScorerName.test(name))
    return `${shown} is no scorer's name: these have 1 to 100 letters, digits, spaces, dots, hyphens and underscores`
  const plain = name.toLowerCase().replace(/[ .-]/g, '_')
  const meant = builtInScorers.find(
    (builtIn) =>
      plain === builtIn || (!plain.startsWith(builtIn) && slipsBetween(plain, builtIn) <= maxSlips),
  )
  return meant && `no scorer is called ${shown}; did you mean "${meant}"?`
}

/** The Levenshtein distance. */
function slipsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [at, letter] of Array.from(one).entries()) {
    const next = [at + 1]
    for (const [index, wanted] of Array.from(other).entries()) {
      const [replaced = 0, left = 0, gone = 0] = [row[index], next[index], row[index + 1]]
      next.push(Math.min(replaced + (letter === wanted ? 0 : 1), left + 1, gone + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
