import { isSentence } from '#detectors/injection/suspect-material.ts'
import { splitSegments } from '#detectors/injection/split-segments.ts'
import { readCall, type Body } from '#detectors/call-text.ts'
import { materialOf } from '#detectors/context/material-of.ts'
import { withoutCode } from '#detectors/without-code.ts'
import { findAttacks, isTrainedOn } from './find-attacks.ts'
import { makeOrders } from './make-orders.ts'
import { makeRequests } from './make-requests.ts'
import type { OrdinaryCall } from './ordinary-traffic.ts'
import { isIn, type Sample } from './samples.ts'

interface Segment {
  set: string
  text: string
  label: 0 | 1
}

/** Innocent sentences, from sets without attacks. */
const innocentMaterial: Readonly<Record<string, (sample: Sample) => string>> = {
  begin: ({ context, response }) => `${context}\n${response}`,
  summedits: ({ context }) => context,
  poisonedrag: ({ context }) => context,
  'openai-moderation': ({ prompt: text }) => text,
  'presidio-synth': ({ prompt: text }) => text,
  'xstest-prompts': ({ prompt: text }) => text,
  'xstest-answers': ({ response }) => response,
  notinject: ({ prompt: text }) => text,
}
/** Sentences of planted orders, against sentences around them and elsewhere. */
export function segmentsOf(samples: readonly Sample[], ordinary: readonly OrdinaryCall[]): Segment[] {
  const attacks = findAttacks(samples)
  const requests = makeRequests().filter(({ id }) => isIn('train', id))
  return [
    ...[...samples, ...requests].flatMap((sample) => ofSample(sample, attacks.get(sample.id))),
    ...makeOrders().map(({ text }): Segment => ({ set: 'orders, constructed', text, label: 1 })),
    ...ofOrdinary(ordinary),
  ]
}

function ofSample(sample: Sample, attack: string | undefined): Segment[] {
  const { set, context, label } = sample
  const texts = (text: string, of: 0 | 1) =>
    segmentsIn(text).map((said): Segment => ({ set, text: said, label: of }))
  if (set === 'bipia-orders') return insertsCode(context) ? [] : texts(context, 1)
  if (sample.scorer === 'jailbreak_detection' && set !== 'notinject') return []
  const clean =
    attack === undefined ? (innocentMaterial[set]?.(sample) ?? context) : context.replace(attack, '\n')
  const isTaught =
    attack !== undefined &&
    label === 1 &&
    !insertsCode(attack) &&
    (set !== 'injecagent' || isTrainedOn(attack))
  return [...texts(clean, 0), ...(isTaught ? texts(attack, 1) : [])]
}

function segmentsIn(text: string): string[] {
  return Array.from(splitSegments(text), ({ text: said }) => said).filter(isSentence)
}

/** Manuals tell readers to insert code, too. What is to be inserted decides (injection-families.ts). */
function insertsCode(attack: string): boolean {
  return attack.includes('```')
}

const maxTexts = 60
const maxUnits = 6_000

/** What tools and documents say in ordinary calls, as the detector reads it. People's requests are orders. */
function ofOrdinary(calls: readonly OrdinaryCall[]): Segment[] {
  return calls.flatMap(({ request, response }) => {
    const call = readCall(bodyOf(request), response === null ? null : bodyOf(response))
    const material = call.texts.flatMap(materialOf).slice(0, maxTexts)
    return material.flatMap((given) => {
      const { text } = withoutCode({ ...given, text: given.text.slice(0, maxUnits) })
      return segmentsIn(text).map((said): Segment => ({ set: 'ordinary', text: said, label: 0 }))
    })
  })
}

function bodyOf(value: object): Body {
  return { json: JSON.stringify(value), value }
}
