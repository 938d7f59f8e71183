import { findMatches } from '../find-matches.ts'

const nouns =
  'password|passphrase|passcode|pass phrase|secret(?: key| code| word| number| token)?|code ?word|access (?:code|key|token)|api key|pin(?: code)?|key'
/** The operator tells the model a secret: "the password is …", "the secret key is 'Piano'". */
const told = new RegExp(
  `\\b(${nouns})(?: (?:is|=)| ?[:=])? ?["'“‘«][^"'”’»\\n]{1,100}["'”’»]|\\b(${nouns}) (?:is|=) \\S|\\b(${nouns}): \\S`,
  'gi',
)
const forbids =
  /\b(?:do not|don'?t|never|must not|cannot|under no circumstances|not (?:allowed|permitted) to)\W+(?:\w+\W+){0,3}?(?:reveal|share|disclose|tell|give|mention|repeat|expose|say|show|leak|output|print)\b/i
const maxMatches = 50
/** What a user is told to set up, and what the user has. */
const ownedBy = '(?:the|your|that|its)'

/**
 * Returns a test for texts that speak of the operator's secret, or null where the operator tells none or does
 * not forbid to reveal it. Users cannot know of it otherwise than by asking for it.
 */
export function secretAsked(
  system: string,
): ((text: string) => { start: number; end: number } | null) | null {
  if (!forbids.test(system)) return null
  const names = new Set(
    findMatches(system, told, maxMatches).map((match) =>
      (match[1] ?? match[2] ?? match[3] ?? '').toLowerCase(),
    ),
  )
  names.delete('')
  if (names.size === 0) return null
  const asked = new RegExp(`\\b${ownedBy}\\s(?:\\w{1,20}\\s){0,2}?(?:${[...names].join('|')})\\b`, 'i')
  return (text) => {
    const match = asked.exec(text)
    return match === null ? null : { start: match.index, end: match.index + match[0].length }
  }
}
