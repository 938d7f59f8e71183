import { builtInScorers, customScorerName } from '#schemas/verdicts.ts'

/** Letters that are wrong, missing or too many in a name that was meant to be another. */
const maxSlips = 2

/**
 * What is wrong with the name of a scorer that is not built in and has not scored a call. The API has no list of the custom ones: a scorer's file is the scorer's. A name that is
 * nearly a built-in one's is taken for that, because a run by nobody ends like one that found nothing; one that goes on behind it may be `pii_detection_2`.
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

/** Levenshtein's distance. */
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
