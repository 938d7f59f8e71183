import type { Reading } from '../linear/linear-model.ts'
import type { Suspicion } from '../phrases/suspect.ts'
import { phraseFamilies } from './phrase-families.ts'

/** The model knows manners too, so an unsure model adds nothing to these. Honest role play has them. */
const manners = new Set(phraseFamilies.filter(({ aspect }) => aspect === 'manner').map(({ name }) => name))
/** Families that convict only together. */
const aspects = new Set(phraseFamilies.filter(({ aspect }) => aspect !== undefined).map(({ name }) => name))
const storyPoints = 9
/** What the model finds convicts; at half that confidence it adds to other signs. */
const [foundPoints, doubtfulPoints] = [4, 1]
/** One in sixteen training jailbreaks is shorter. In two sentences honest role play looks the same. */
const minUnits = 200

/** Combines phrases and model: jailbreaks in new words keep the manner. */
export function withModel(
  suspicion: Suspicion,
  { probability, start, end }: Reading,
  foundAt: number,
  text: string,
): Suspicion {
  if (probability < foundAt / 2) return suspicion
  const isFound = probability >= foundAt && text.length >= minUnits
  if (!isFound && suspicion.kinds.every((kind) => manners.has(kind)))
    return { ...suspicion, points: Math.max(suspicion.points, 1) }
  const points = isFound ? Math.max(suspicion.points, foundPoints) : suspicion.points + doubtfulPoints
  const kind = 'manner_of_jailbreaks'
  return {
    points,
    kinds: [...suspicion.kinds, kind],
    hits: suspicion.hits.length > 0 ? suspicion.hits : [{ kind, start, end }],
  }
}

/**
 * Stories and role play for honest ends have manner and subject too: two families of them are left to the
 * judge.
 */
export function discountStories(suspicion: Suspicion): Suspicion {
  const isStory = suspicion.kinds.every((kind) => aspects.has(kind))
  return isStory && suspicion.points < storyPoints
    ? { ...suspicion, points: Math.min(suspicion.points, 3) }
    : suspicion
}
