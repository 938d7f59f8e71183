/** Fewer words say nothing: a chorus, a table. */
const minWords = 200
const shingleWords = 6
/** Text of people and models has nearly as many different runs of words as runs; a loop has few. */
const loopShare = 0.15
const minPeriodic = 2_000
const longestPeriod = 200
/** A passage that came three times to its end goes round; twice is a refrain. */
const minRounds = 3
const seedUnits = 64
const maxSeeds = 5
/** Prose is four fifths letters; rows of numbers, forms and rulers have few. */
const minLetters = 0.5

/** How a text repeats itself. `data`: what is repeated are hardly words, and a table or a form may have been asked for. `passages`: its end is a long passage over and over. */
export type Repetition = 'none' | 'words' | 'data' | 'passages'

/** Whether a text goes round in circles: the same words over and over, or its end one piece repeated. */
export function findRepetition(text: string): Repetition {
  // Models that may only write JSON sometimes go on with blanks until their limit.
  if (text.length - text.trimEnd().length >= minPeriodic) return 'data'
  if (repeatsWords(text) || endsPeriodic(text)) return isWordy(text) ? 'words' : 'data'
  return endsInPassages(text) ? 'passages' : 'none'
}

function isWordy(text: string): boolean {
  const end = text.slice(-minPeriodic)
  return (end.match(/\p{L}/gu)?.length ?? 0) >= minLetters * end.replace(/\s+/g, '').length
}

function repeatsWords(text: string): boolean {
  // The number of a list's entry makes no other entry of it.
  const words = text.replace(/^\s{0,8}\d{1,6}[.)]\s/gm, '').match(/[\p{L}\p{N}]{1,64}/gu) ?? []
  if (words.length < minWords) return false
  const shingles = words.length - shingleWords + 1
  const different = new Set<string>()
  for (let at = 0; at < shingles; at++) {
    // Nothing that follows makes it a loop: of most texts a sixth is looked at.
    if (different.size / shingles >= loopShare) return false
    different.add(
      words
        .slice(at, at + shingleWords)
        .join(' ')
        .toLowerCase(),
    )
  }
  return different.size / shingles < loopShare
}

function endsPeriodic(text: string): boolean {
  const end = text.trimEnd().slice(-minPeriodic)
  if (end.length < minPeriodic) return false
  for (let period = 1; period <= longestPeriod; period++) {
    if (end.startsWith(end.slice(period, period + 64)) && end.slice(period) === end.slice(0, -period))
      return true
  }
  return false
}

/** By where the last words stood before: a text that goes round has them one round earlier. */
function endsInPassages(text: string): boolean {
  const seed = text.slice(-seedUnits)
  if (seed.length < seedUnits) return false
  let at = text.length - seedUnits
  for (let tried = 0; tried < maxSeeds; tried++) {
    at = text.lastIndexOf(seed, at - 1)
    if (at === -1) return false
    const period = text.length - seedUnits - at
    const rounds = text.slice(-minRounds * period)
    if (rounds.length < minRounds * period) return false
    if (rounds.length >= minPeriodic && rounds.slice(period) === rounds.slice(0, -period)) return true
  }
  return false
}
