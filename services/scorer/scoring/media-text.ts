import { holdsWords, isReadable } from '#capture/words-in-base64.ts'

/** A picture or a sound in a URL and nothing beside it: base64 has no blanks. */
const mediaUrl =
  /^data:(?!text\/|application\/(?:[\w.-]*[+-])?(?:json|xml|yaml|javascript|sh);)[\w.+-]{1,64}\/[\w.+-]{1,64}(?:;[\w=.-]{1,64}){0,8};base64,[A-Za-z0-9+/=_-]*$/

/** Pictures and sound travel as base64 in strings: there is nothing to read in them. Text in base64 is somebody's words, and so is what only looks like base64. */
export function isWords(text: string): boolean {
  if (text === '') return false
  if (mediaUrl.test(text)) return holdsWords(text.slice(text.indexOf(',') + 1))
  return text.length <= 4096 || !/^[A-Za-z0-9+/=_-]+$/.test(text) || isReadable(text)
}

/** What stands among other things in base64; some writers of JSON escape the slash. Looking behind keeps the time linear. Not `{1024,}`: see likeBase64. */
const base64Run = /(?<![\w+/=\\-])[\w+/=\\-]{1024}[\w+/=\\-]*/g

/**
 * The JSON text of a body that was cut when it was recorded: its strings are not apart. Pictures, sound and vectors in it are blanks of the
 * same length, because a few MiB of base64 hold what looks like bank accounts.
 */
export function withoutMedia(text: string): string {
  return text.replace(base64Run, (run) =>
    /\\(?!\/)/.test(run) || isReadable(run.replaceAll('\\/', '/')) ? run : ' '.repeat(run.length),
  )
}
