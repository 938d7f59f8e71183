import weights from './weights.json' with { type: 'json' }
import { addSource, emptySource, findContradictions, type Contradictions } from './find-contradictions.ts'
import { groundingFeatures, isLongSource, weighFeatures } from './grounding-features.ts'
import { addText, emptyVocabulary, measureSupport, type Support } from './measure-support.ts'

/** What an answer has to be compared with. */
export interface Material {
  /** The supplied text, piece by piece. */
  addSupplied(text: string): void
  /** Questions and other texts of the request. */
  addRest(text: string): void
  /** Words of the supplied text that are known. */
  words(): number
  compare(answer: string): Comparison
}

export interface Comparison {
  support: Support
  contradictions: Contradictions
  /** For the fit of the weights. */
  features: number[]
  isLong: boolean
  /** 0 to 1: the chance that the answer is not supported, on the sets it was fitted to. */
  probability: number
}

export function createMaterial(): Material {
  const supplied = emptyVocabulary()
  const rest = emptyVocabulary()
  const source = emptySource()
  return {
    addSupplied(text) {
      addText(supplied, text)
      addSource(source, text, true)
    },
    addRest(text) {
      addText(rest, text, false)
      addSource(source, text, false)
    },
    words: () => supplied.words.size,
    compare(answer) {
      const support = measureSupport(answer, supplied, rest)
      const contradictions = findContradictions(
        answer,
        source,
        (stem) => supplied.words.has(stem) || rest.words.has(stem),
      )
      const features = groundingFeatures(answer, support, contradictions)
      const isLong = isLongSource(supplied.words.size)
      const probability = weighFeatures(isLong ? weights.long : weights.short, features)
      return { support, contradictions, features, isLong, probability }
    },
  }
}
