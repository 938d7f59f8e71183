/** How much of an answer the supplied text supports, by content words and word pairs. */
export interface Support {
  contentWords: number
  /** Share of the answer's content words missing from the supplied text: 0 to 1. */
  missingWords: number
  /** Share of its pairs of neighbouring words missing from the supplied text: 0 to 1. */
  missingPairs: number
  /** Share of its content words missing from the whole request: 0 to 1. */
  missingEverywhere: number
}

const functionWords = new Set(
  `a an the of in on at to for from by with and or but is are was were be been being it its he she they them his her their this that
  these those i you we my your our as not no do does did have has had will would can could so if then than there what which who whom
  when where how also s t re ve ll d m just very too about into over more most some any all`.split(/\s+/),
)
const wordPattern = /[\p{L}\p{N}]{1,64}/gu

export interface Vocabulary {
  words: Set<string>
  pairs: Set<string>
}

/** The supplied text is read piece by piece; words beyond this are not kept. */
const maxWords = 100_000

export function emptyVocabulary(): Vocabulary {
  return { words: new Set(), pairs: new Set() }
}

/** `hasPairs`: false where only words are asked for. */
export function addText(vocabulary: Vocabulary, text: string, hasPairs = true): void {
  if (Math.max(vocabulary.pairs.size, vocabulary.words.size) > maxWords) return
  const words = stemsOf(text)
  for (const [at, word] of words.entries()) {
    vocabulary.words.add(word)
    if (hasPairs) vocabulary.pairs.add(`${word} ${words[at + 1] ?? ''}`)
  }
}

export function measureSupport(answer: string, supplied: Vocabulary, rest: Vocabulary): Support {
  const words = stemsOf(answer)
  const content = words.filter((word) => !functionWords.has(word))
  const missing = content.filter((word) => !supplied.words.has(word))
  const pairs = words.slice(1).map((word, at) => `${words[at] ?? ''} ${word}`)
  return {
    contentWords: content.length,
    missingWords: share(missing.length, content.length),
    missingPairs: share(pairs.filter((pair) => !supplied.pairs.has(pair)).length, pairs.length),
    missingEverywhere: share(missing.filter((word) => !rest.words.has(word)).length, content.length),
  }
}

/** True for English prose, which the stems and function words here assume. */
export function isEnglish(text: string): boolean {
  const words = text.toLowerCase().match(wordPattern) ?? []
  return words.filter((word) => functionWords.has(word)).length > words.length / 5
}

const endings = ['ing', 'ed', 'es', 's', 'ly']

export function stemsOf(text: string): string[] {
  return (text.toLowerCase().match(wordPattern) ?? []).map((word) => {
    const ending = endings.find((suffix) => word.endsWith(suffix) && word.length > suffix.length + 3)
    return ending === undefined || functionWords.has(word) ? word : word.slice(0, -ending.length)
  })
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

/** Words that carry no claim of their own; stems and words alike. */
export function isFunctionWord(word: string): boolean {
  return functionWords.has(word)
}
