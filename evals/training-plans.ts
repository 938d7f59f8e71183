import { orderSigns } from '#detectors/injection/order-signs.ts'
import { contentSigns } from '#detectors/content/content-signs.ts'
import type { Sign } from '#detectors/linear/text-features.ts'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { segmentsOf } from './order-segments.ts'
import type { OrdinaryCall } from './ordinary-traffic.ts'
import { everydayTasks } from './make-tasks.ts'
import { ordinaryAnswered, ordinaryAsked } from './ordinary-samples.ts'
import type { Sample } from './samples.ts'

/** One text that a model is trained with. */
export interface TrainingText {
  set: string
  text: string
  label: 0 | 1
  /** What a mistake on it costs, compared with other texts; 1 unless told. */
  weight?: number
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
  /** Also trained with datasets/training, invented tasks and ordinary traffic. */
  takesFurther?: true
  /** Thresholds tried: multiples of 1/steps; 20 unless told. */
  steps?: number
  /** If set, a text below it may be called safe. What that misses is measured. */
  clearBelow?: number
}

type Take = (sample: Sample) => Omit<TrainingText, 'set'>
const prompt: Take = ({ prompt: text, label }) => ({ text, label })
const innocentPrompt: Take = ({ prompt: text }) => ({ text, label: 0 })
const answer: Take = ({ response: text, label }) => ({ text, label })
const innocentAnswer: Take = ({ response: text }) => ({ text, label: 0 })

const weighted =
  (take: Take, weight: number): Take =>
  (sample) => ({ ...take(sample), weight })

function takeFrom(takes: Readonly<Record<string, Take>>): TrainingPlan['textsOf'] {
  return (samples) =>
    samples.flatMap((sample) => {
      const take = takes[sample.set]
      return take === undefined ? [] : [{ set: sample.set, ...take(sample) }]
    })
}

export const trainingPlans: readonly TrainingPlan[] = [
  {
    // What people say: hate, sexual content, threats, self-harm.
    model: 'content-request',
    scorer: 'content_safety',
    signs: contentSigns,
    takesFurther: true,
    steps: 40,
    textsOf: takeFrom({
      'openai-moderation': prompt,
      'openai-moderation-rest': prompt,
      'offensive-tweets': weighted(prompt, 0.5),
      // Without the unsafe contrasts, which differ from safe prompts by a word or two.
      'xstest-prompts': ({ prompt: text, label }) => ({ text: label === 1 ? '' : text, label }),
      'harmful-requests': ({ prompt: text, label }) => ({ text: label === 1 ? '' : text, label }),
      notinject: innocentPrompt,
      'honest-personas': innocentPrompt,
      begin: innocentPrompt,
      'presidio-synth': innocentPrompt,
      [ordinaryAsked]: innocentPrompt,
      'school-maths': innocentPrompt,
      [everydayTasks]: innocentPrompt,
    }),
    measuredOn: ['openai-moderation', 'openai-moderation-rest'],
    maxFalse: {
      'openai-moderation': 0.1,
      'openai-moderation-rest': 0.14,
      'offensive-tweets': 0.2,
      'xstest-prompts': 0.03,
      [ordinaryAsked]: 0,
    },
    maxFalseElsewhere: 0.01,
  },
  {
    // What people ask for: help with crime, weapons, fraud, harm to others.
    model: 'content-ask',
    scorer: 'content_safety',
    signs: contentSigns,
    takesFurther: true,
    steps: 40,
    textsOf: takeFrom({
      'harmful-requests': prompt,
      'xstest-prompts': (sample) => ({ ...prompt(sample), weight: sample.label === 1 ? 1 : 2 }),
      'openai-moderation': ({ prompt: text, label }) => ({ text: label === 1 ? '' : text, label }),
      notinject: innocentPrompt,
      'honest-personas': innocentPrompt,
      begin: innocentPrompt,
      'presidio-synth': innocentPrompt,
      [ordinaryAsked]: innocentPrompt,
      'school-maths': innocentPrompt,
      [everydayTasks]: innocentPrompt,
    }),
    measuredOn: ['harmful-requests', 'xstest-prompts'],
    maxFalse: { 'xstest-prompts': 0.06, [ordinaryAsked]: 0 },
    maxFalseElsewhere: 0.015,
  },
  {
    model: 'content-answer',
    scorer: 'content_safety',
    signs: contentSigns,
    takesFurther: true,
    steps: 40,
    textsOf: takeFrom({
      'jailjudge-mini': answer,
      'jailjudge-rest': answer,
      'xstest-answers': answer,
      'gptfuzz-answers': weighted(answer, 0.5),
      'jbb-answers': weighted(answer, 0.5),
      begin: innocentAnswer,
      summedits: ({ response, context }) => ({ text: `${response}\n${context.slice(0, 1_000)}`, label: 0 }),
      poisonedrag: ({ context }) => ({ text: context, label: 0 }),
      'everyday-answers': innocentAnswer,
      'presidio-synth': innocentPrompt,
      [ordinaryAnswered]: innocentAnswer,
    }),
    measuredOn: ['jailjudge-mini', 'jailjudge-rest', 'xstest-answers'],
    maxFalse: {
      'jailjudge-mini': 0.1,
      'jailjudge-rest': 0.12,
      'xstest-answers': 0.09,
      'gptfuzz-answers': 0.3,
      'jbb-answers': 0.3,
      [ordinaryAnswered]: 0,
    },
    maxFalseElsewhere: 0.004,
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
    minThreshold: 0.65,
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
