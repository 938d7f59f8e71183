/** Fewer words prove nothing: a chorus or a table. */
const minWords = 200
const shingleWords = 6
/** In prose nearly all runs of words are distinct; in a loop few are. */
const loopShare = 0.15
const minPeriodic = 2_000
const longestPeriod = 200
/** Three consecutive copies at the end are a loop; two are a refrain. */
const minRounds = 3
const seedUnits = 64
const maxSeeds = 5
/** Prose is 80% letters; rows of numbers, forms and rulers have few. */
const minLetters = 0.5

/**
 * `words`: text loops. `data`: the repeated part is hardly words, perhaps a requested table or form.
 * `passages`: it ends in a long passage repeated.
 */
export type Repetition = 'none' | 'words' | 'data' | 'passages'

/** Whether a text loops: the same words over and over, or its end repeated. */
export function findRepetition(text: string): Repetition {
  // Models restricted to JSON sometimes emit blanks up to their token limit.
  if (text.length - text.trimEnd().length >= minPeriodic) return 'data'
  if (repeatsWords(text) || endsPeriodic(text)) return isWordy(text) ? 'words' : 'data'
  return endsInPassages(text) ? 'passages' : 'none'
}

function isWordy(text: string): boolean {
  const end = text.slice(-minPeriodic)
  return (end.match(/\p{L}/gu)?.length ?? 0) >= minLetters * end.replace(/\s+/g, '').length
}

function repeatsWords(text: string): boolean {
  // List numbers do not make entries different.
  const words = text.replace(/^\s{0,8}\d{1,6}[.)]\s/gm, '').match(/[\p{L}\p{N}]{1,64}/gu) ?? []
  if (words.length < minWords) return false
  const shingles = words.length - shingleWords + 1
  const different = new Set<string>()
  for (let at = 0; at < shingles; at++) {
    // The rest cannot make it a loop: for most texts a sixth is read.
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

/** Finds the previous occurrence of the last words: in a loop it is one period earlier. */
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
