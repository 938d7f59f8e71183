import type { CallText } from '../call-text.ts'
import { onceForText } from '../once-for-text.ts'
import { withoutCode } from '../without-code.ts'

/** Programs that people paste and models write are read for their comments, as those of tools are. */
export const withoutProgram = onceForText((text: CallText): CallText => {
  const prose = withoutCode({ ...text, speaker: 'tool' })
  return prose.text === text.text ? text : prose
})
