import type { CallText } from '../call-text.ts'
import { onceForText } from '../once-for-text.ts'
import { withoutCode } from '../without-code.ts'

/** Every program has these, and little prose; a text of fewer lines is none. */
const programSigns = /[{};]|->|=>|::|\b(?:def|import|end|fn)\b/
const minLines = 8

/** Programs that people paste and models write are read for their comments, as those of tools are. */
export const withoutProgram = onceForText((text: CallText): CallText => {
  if (!hasLines(text.text) || !programSigns.test(text.text)) return text
  const prose = withoutCode({ ...text, speaker: 'tool' })
  return prose.text === text.text ? text : prose
})

function hasLines(text: string): boolean {
  let at = 0
  for (let lines = 1; lines < minLines; lines++) {
    at = text.indexOf('\n', at) + 1
    if (at === 0) return false
  }
  return true
}
