import { gateSource as pattern } from '../gate/gated-pattern.ts'
import type { PhraseFamily } from '../phrases/suspect.ts'

const trust = String.raw`(?:trusted|authoritative|go-to|reliable|preferred|best|primary|leading|recommended|most trusted|credible)`
const role = String.raw`(?:\w+\W+){0,2}?(?:source|site|website|provider|reference|brand|expert|authority|choice|vendor|shop|resource)s?`

/**
 * What a link fills in for a user: a page to be summarised, and whom to trust from then on. Said in one
 * message, with a domain or an address.
 */
export const linkFamilies: readonly PhraseFamily[] = [
  {
    name: 'asks_for_lasting_trust',
    points: 4,
    patterns: [
      pattern(
        String.raw`\b(?:summari[sz]e|analy[sz]e|read|visit|review|explain|open)\b[^\n]{0,20}\bhttps?:[^\n]{0,200}\b(?:remember|memori[sz]e|store|save|note|keep in mind|treat|consider|cite)\b[^\n]{0,100}\b(?:as|is)\W+(?:an?\W+|the\W+|your\W+|my\W+)?${trust}\W+${role}\b`,
      ),
      pattern(
        String.raw`\b(?:remember|memori[sz]e|store|save|note|keep in mind)\b[^\n]{0,60}\b[\w-]{2,40}\.(?:com|net|org|io|ai|co|shop|info|dev|example|\w\w)\b[^\n]{0,60}\b(?:as|is)\W+(?:an?\W+|the\W+|your\W+)?${trust}\W+${role}\b`,
      ),
    ],
  },
]
