/**
 * Text of a caller as plain text for a chat, an issue or a mail: no mention (`@channel`), no address that
 * becomes a link by itself, no control or direction character. Formats escape what is theirs besides.
 */
export function disarm(text: string): string {
  return text
    .replace(/[\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, '')
    .replace(/([a-z][a-z0-9+.-]*):\/\//giu, '$1[:]//')
    .replace(/\bwww\./giu, 'www[.]')
    .replace(/(\p{L}|\p{N})\.(?=(?:[a-z0-9-]+\.)*[a-z]{2,24}\b)/giu, '$1[.]')
    .replace(/[@＠]/gu, '(at)')
    .replace(/(mailto|javascript|data|tel):/giu, '$1[:]')
}

/** At most `max` UTF-16 units, with an ellipsis, and no half of a surrogate pair at its end. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
