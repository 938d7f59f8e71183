import type { Sign } from '../linear/text-features.ts'

const please =
  /^(?:please|kindly|can you|could you|important\W*|now|then|next|also|you (?:must|should|need to|have to))\W+/

/** Features of the order model besides words: how a sentence begins, and whose things it mentions. */
export function orderSigns(folded: string): Sign[] {
  const said = folded.replace(/^[\W\d_]+/, '')
  const isPolite = please.test(said)
  const [first = '', second = ''] = said.replace(please, '').split(/\W+/, 2)
  return [
    { name: `begins with ${first}`, weight: 0.7 },
    { name: `begins with ${first} ${second}`, weight: 0.4 },
    { name: 'asks', weight: isPolite ? 0.7 : 0 },
    { name: 'question', weight: folded.trimEnd().endsWith('?') ? 0.5 : 0 },
    { name: 'my', weight: /\bmy\b/.test(folded) ? 0.5 : 0 },
    { name: 'your', weight: /\byour\b/.test(folded) ? 0.5 : 0 },
    {
      name: 'address',
      weight: /@|https?:|www\.|\b(?:account|id|number)\b[^\n]{0,20}\d{3}/.test(folded) ? 0.5 : 0,
    },
  ].filter(({ weight }) => weight > 0)
}
