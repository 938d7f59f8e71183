import type { CallText } from './call-text.ts'
import { onceForText } from './once-for-text.ts'

/** Fewer lines are a snippet in prose, which is read as prose. */
const minCodeLines = 8
const minCodeShare = 0.4
/** Words in a row that make a line prose: a comment, a docstring or a quoted sentence. */
const minProseWords = 4

const codeSymbols = /[{}()[\];=<>]|::|->|\w\.\w|^\s*(?:\/\/|#|\*|\/\*|--|@)/
const plainWord = /^["'`(*[]{0,3}\p{L}['’\p{Ll}-]*[.,:;!?)"'`*\]]{0,3}$/u
/** Scripts without spaces between words. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]{8}/u
/** Ten languages write code with these between names, as sentences have words. */
const keywords = new Set(
  (
    'abstract and as assert async await begin bool break case catch class const continue def default defer del do ' +
    'elif else elsif end enum except export extends false final finally float fn for foreach from fun func function ' +
    'global go guard if impl implements import in include inline instanceof int interface internal is lambda let long ' +
    'match module mut namespace new nil none not null object or override package pass private protected pub public ' +
    'raise readonly require rescue return self static string struct super switch template then this throw throws trait ' +
    'true try type typedef typename union unless unsafe until use using val var virtual void when where while with yield'
  ).split(' '),
)

/**
 * The text of a tool with its code blanked, if it is mostly code: models take orders from comments and quoted
 * sentences, not from statements. Offsets stay. Any other text is returned unchanged.
 */
export const withoutCode = onceForText((given: CallText): CallText => {
  // Data and markup are read whole.
  if (given.speaker !== 'tool' || /^\s*(?:[{[]|<(?!\?php))/.test(given.text)) return given
  const lines = given.text.split('\n')
  const prose = lines.map(isProse)
  const code = lines.filter((line, index) => prose[index] === false && codeSymbols.test(line)).length
  const written = lines.filter((line) => line.trim() !== '').length
  if (code < minCodeLines || code < written * minCodeShare) return given
  const kept = lines.map((line, index) => (prose[index] === true ? line : ' '.repeat(line.length)))
  return { ...given, text: kept.join('\n') }
})

function isProse(line: string): boolean {
  let run = 0
  for (const word of line.trim().split(/\s+/)) {
    const isPlain = plainWord.test(word) && !keywords.has(word.toLowerCase())
    run = isPlain ? run + 1 : 0
    if (run >= minProseWords) return true
  }
  return unspaced.test(line)
}
