import { holdsWords, isReadable } from '#capture/words-in-base64.ts'

/** A media URL and nothing else. Base64 has no spaces. */
const mediaUrl =
  /^data:(?!text\/|application\/(?:[\w.-]*[+-])?(?:json|xml|yaml|javascript|sh);)[\w.+-]{1,64}\/[\w.+-]{1,64}(?:;[\w=.-]{1,64}){0,8};base64,[A-Za-z0-9+/=_-]*$/

/** False for pictures and sound in base64. Base64 of text, or what only looks like base64, is words. */
export function isWords(text: string): boolean {
  if (text === '') return false
  if (mediaUrl.test(text)) return holdsWords(text.slice(text.indexOf(',') + 1))
  return text.length <= 4096 || !/^[A-Za-z0-9+/=_-]+$/.test(text) || isReadable(text)
}

/**
 * Base64 within other text; some JSON writers escape the slash. The look-behind keeps it linear. Not
 * `{1024,}`: see likeBase64.
 */
const base64Run = /(?<![\w+/=\\-])[\w+/=\\-]{1024}[\w+/=\\-]*/g

/**
 * JSON text of a body truncated when recorded, so its strings are not separated. Replaces media and vectors
 * with blanks of the same length: a few MiB of base64 contain what looks like bank accounts.
 */
export function withoutMedia(text: string): string {
  return text.replace(base64Run, (run) =>
    /\\(?!\/)/.test(run) || isReadable(run.replaceAll('\\/', '/')) ? run : ' '.repeat(run.length),
  )
}
