/** Fewer words say nothing: a chorus, a table. */
const leastWords = 200
const shingleWords = 6
/** Text of people and models has nearly as many different runs of words as runs; a loop has few. */
const loopShare = 0.15
const leastPeriodic = 2_000
const longestPeriod = 200

/** Whether a text goes round in circles: the same words over and over, or its end one short piece repeated. */
export function isLoop(text: string): boolean {
  return repeatsWords(text) || endsPeriodic(text)
}

function repeatsWords(text: string): boolean {
  const words = text.match(/[\p{L}\p{N}]{1,64}/gu) ?? []
  if (words.length < leastWords) return false
  const shingles = words.length - shingleWords + 1
  const different = new Set<string>()
  for (let at = 0; at < shingles; at++)
    different.add(
      words
        .slice(at, at + shingleWords)
        .join(' ')
        .toLowerCase(),
    )
  return different.size / shingles < loopShare
}

function endsPeriodic(text: string): boolean {
  const end = text.trimEnd().slice(-leastPeriodic)
  if (end.length < leastPeriodic) return false
  for (let period = 1; period <= longestPeriod; period++) {
    if (end.startsWith(end.slice(period, period + 64)) && end.slice(period) === end.slice(0, -period))
      return true
  }
  return false
}
