import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { messageOf } from '#runtime/errors.ts'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { parseRubric, type Rubric } from '../scoring/judge/rubric.ts'
import { parseTiers, type ScorersOfTier } from '../scoring/parse-tiers.ts'

/** Reads tiers.yaml. Throws an Error that names the file and the problem. */
export function readTiers(file: string): ScorersOfTier {
  return naming(file, () => parseTiers(readFileSync(file, 'utf8')))
}

/**
 * Reads the rubrics of a folder, `<scorer>.md`. Throws an Error naming the file, also if a scorer has none:
 * it would silently never be judged.
 */
export function readRubrics(directory: string): ReadonlyMap<BuiltInScorer, Rubric> {
  const files = naming(directory, () => readdirSync(directory).filter((name) => name.endsWith('.md')))
  const rubrics = new Map<BuiltInScorer, Rubric>()
  for (const name of files) {
    const file = path.join(directory, name)
    const rubric = naming(file, () => parseRubric(readFileSync(file, 'utf8')))
    if (`${rubric.scorer}.md` !== name) throw new Error(`${file}: is the rubric of ${rubric.scorer}`)
    rubrics.set(rubric.scorer, rubric)
  }
  const missing = builtInScorers.filter((name) => !rubrics.has(name))
  if (missing.length > 0) throw new Error(`${directory}: no rubric for ${missing.join(', ')}`)
  return rubrics
}

function naming<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new Error(`${file}: ${messageOf(error)}`, { cause: error })
  }
}
