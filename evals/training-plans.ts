import { orderSigns } from '#detectors/injection/order-signs.ts'
import { contentSigns } from '#detectors/content/content-signs.ts'
import type { Sign } from '#detectors/linear/text-features.ts'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { segmentsOf } from './order-segments.ts'
import type { OrdinaryCall } from './ordinary-traffic.ts'
import type { Sample } from './samples.ts'

/** One text that a model is trained with. */
export interface TrainingText {
  set: string
  text: string
  label: 0 | 1
}

/** A model's training texts, and the bounds for its threshold. */
export interface TrainingPlan {
  model: string
  scorer: BuiltInScorer
  signs?: (folded: string) => readonly Sign[]
  textsOf: (samples: readonly Sample[], ordinary: readonly OrdinaryCall[]) => TrainingText[]
  /** Sets with both labels, or positives alone, that measure recall and precision of a threshold. */
  measuredOn: readonly string[]
  /** The share of a set's negatives that may be flagged; `maxFalseElsewhere` for sets not named. */
  maxFalse: Readonly<Record<string, number>>
  maxFalseElsewhere: number
  /** A higher threshold than the data ask for: their negatives are tamer than prompts kept apart. */
  minThreshold?: number
  /** If set, a text below it may be called safe. What that misses is measured. */
  clearBelow?: number
}

type Take = (sample: Sample) => Omit<TrainingText, 'set'>
const prompt: Take = ({ prompt: text, label }) => ({ text, label })
const innocentPrompt: Take = ({ prompt: text }) => ({ text, label: 0 })
const answer: Take = ({ response: text, label }) => ({ text, label })
const innocentAnswer: Take = ({ response: text }) => ({ text, label: 0 })

function takeFrom(takes: Readonly<Record<string, Take>>): TrainingPlan['textsOf'] {
  return (samples) =>
    samples.flatMap((sample) => {
      const take = takes[sample.set]
      return take === undefined ? [] : [{ set: sample.set, ...take(sample) }]
    })
}

export const trainingPlans: readonly TrainingPlan[] = [
  {
    model: 'content-request',
    scorer: 'content_safety',
    signs: contentSigns,
    textsOf: (samples, ordinary) =>
      takeFrom({
        'openai-moderation': prompt,
        // Without the unsafe contrasts, which differ from safe prompts by a word or two. With them 60% of the
        // safe XSTest prompts are flagged instead of 8%, at the same F1 on the moderation set. Such questions
        // are for the judge.
        'xstest-prompts': ({ prompt: text, label }) => ({ text: label === 1 ? '' : text, label }),
        notinject: innocentPrompt,
        'honest-personas': innocentPrompt,
        begin: innocentPrompt,
        'presidio-synth': innocentPrompt,
      })(samples, ordinary),
    measuredOn: ['openai-moderation'],
    maxFalse: { 'openai-moderation': 0.075, 'xstest-prompts': 0.03 },
    maxFalseElsewhere: 0.01,
  },
  {
    model: 'content-answer',
    scorer: 'content_safety',
    signs: contentSigns,
    textsOf: takeFrom({
      'jailjudge-mini': answer,
      'xstest-answers': answer,
      begin: innocentAnswer,
      'presidio-synth': innocentPrompt,
    }),
    measuredOn: ['jailjudge-mini', 'xstest-answers'],
    maxFalse: { 'jailjudge-mini': 0.06, 'xstest-answers': 0.03 },
    maxFalseElsewhere: 0.01,
  },
  {
    model: 'jailbreak',
    scorer: 'jailbreak_detection',
    textsOf: takeFrom({
      'inthewild-jailbreaks': prompt,
      notinject: prompt,
      'honest-personas': prompt,
      'cse2-benign': prompt,
      'openai-moderation': innocentPrompt,
      'xstest-prompts': innocentPrompt,
      begin: innocentPrompt,
      'presidio-synth': innocentPrompt,
    }),
    measuredOn: ['inthewild-jailbreaks', 'notinject', 'honest-personas'],
    maxFalse: { notinject: 0.02, 'honest-personas': 0.02, 'cse2-benign': 0.01 },
    maxFalseElsewhere: 0.002,
    minThreshold: 0.7,
    clearBelow: 0.05,
  },
  {
    model: 'injection',
    scorer: 'vector_weakness',
    signs: orderSigns,
    textsOf: segmentsOf,
    measuredOn: ['injecagent', 'bipia', 'bipia-orders'],
    // A document has hundreds of sentences.
    maxFalse: {
      notinject: 0.02,
      'requests, constructed': 0.06,
      'presidio-synth': 0.006,
      'xstest-prompts': 0.02,
      bipia: 0.02,
    },
    maxFalseElsewhere: 0.002,
  },
]
