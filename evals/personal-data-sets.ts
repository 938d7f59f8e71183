import type { Sample } from './samples.ts'

/** Spans that identify or open something by themselves; the others are names, places, dates and the like. */
const structuredTypes: ReadonlySet<string> = new Set([
  ...[
    'CREDIT_CARD',
    'EMAIL_ADDRESS',
    'IBAN_CODE',
    'IP_ADDRESS',
    'PHONE_NUMBER',
    'US_DRIVER_LICENSE',
    'US_SSN',
  ],
])

type Kind = 'identifier' | 'person with a datum' | 'address without a name' | 'name' | 'other' | 'none'

/**
 * Rows about `presidio-synth` by kind of span, and about `multilingual` by language. The source labels every
 * span, also "We are proud Paraguayans", so a recall over all of it mixes findings with what is none.
 */
export function personalDataSets(samples: readonly Sample[]): [set: string, samples: readonly Sample[]][] {
  const presidio = samples.filter(({ set }) => set === 'presidio-synth')
  const relabelled = (kinds: readonly Kind[], leftOut: readonly Kind[]) =>
    presidio
      .filter((sample) => !leftOut.includes(kindOf(sample)))
      .map((sample): Sample => ({ ...sample, label: kinds.includes(kindOf(sample)) ? 1 : 0 }))
  const only = (kind: Kind) => presidio.filter((sample) => kindOf(sample) === kind)
  const languages = Map.groupBy(
    samples.filter(({ set }) => set === 'multilingual'),
    ({ language = '?' }) => language,
  )
  return [
    ['structured identifiers', relabelled(['identifier'], ['person with a datum', 'address without a name'])],
    [
      'identifiers, persons with a datum',
      relabelled(['identifier', 'person with a datum'], ['address without a name']),
    ],
    ['only: a person with a datum', only('person with a datum')],
    ['only: an address without a name', only('address without a name')],
    ['only: names', only('name')],
    ['only: places, dates, ages, employers', only('other')],
    ...[...languages].map(([language, own]): [string, Sample[]] => [`multilingual: ${language}`, own]),
  ]
}

/** The strongest kind of a sample's spans. A datum is a street address or a date of birth. */
function kindOf({ spans, prompt }: Sample): Kind {
  const has = (type: string) => spans.some((span) => span.type === type)
  if (spans.some(({ type }) => structuredTypes.has(type))) return 'identifier'
  if (has('PERSON') && has('DATE_TIME') && /\bborn on\b/i.test(prompt)) return 'person with a datum'
  if (has('STREET_ADDRESS')) return has('PERSON') ? 'person with a datum' : 'address without a name'
  if (has('PERSON')) return 'name'
  return spans.length > 0 ? 'other' : 'none'
}
