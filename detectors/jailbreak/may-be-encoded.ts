/** Says that something is to be decoded, deciphered or read letter by letter. */
const decodes =
  /\b(?:decod\w*|decipher\w*|decrypt\w*|base ?\d\d\b|ascii ?85|rot ?\d\d?\b|caesar|morse|hex(?:adecimal)?|binary|cipher\w*|pig latin|backwards|unscramble|anagram|leet\w*)/i
/** Without blanks, longer than words, and no address, path or identifier. */
const opaque = /(?<![^\s"'`(:])[^\s/._-]{24,}/

/** True for a text that may say more than its words: what it asks to decode, or one long run of signs. */
export function mayBeEncoded(text: string): boolean {
  return decodes.test(text) || opaque.test(text)
}
