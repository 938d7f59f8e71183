import { foldCharacters } from '../fold-characters.ts'

/** Prompt sentences with something secret. */
const secretWord =
  /canary|secret|confidential|password|pass ?phrase|pass ?code|code ?word|api[ _-]?key|access key|private key|credential|bearer|\b(?:do not|don't|never) (?:reveal|share|disclose|repeat)|geheim|vertraulich|passwort|kennwort|mot de passe|contraseña|\bsenha\b|парол|密码|秘密|パスワード|비밀/i
/** What must not be mentioned is as often a product or a discount, which an answer may name anyway. */
const keptQuiet = /\b(?:do not|don't|never) (?:show|tell|give|mention|print|output)\b/i
/** Letters and digits mixed, or a UUID. */
const unguessable =
  /(?<![\w-])(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])[A-Za-z0-9][\w-]{9,60}[A-Za-z0-9](?![\w-])/g
/** Letters and digits mixed, but short enough for a product name. */
const code = /(?<![\w-])(?=[\w-]{0,12}\d)(?=[\w-]{0,12}[A-Za-z])[A-Za-z0-9][\w-]{2,9}[A-Za-z0-9](?![\w-])/g
/** A value introduced as a password, whatever its form. Not what is said about passwords or their fields. */
const named =
  /\b(password|pass ?phrase|pass ?code|code ?word|secret (?:word|phrase|code)|api[ _-]?key|passwort|kennwort|mot de passe|contraseña|senha)\b(?!\W{1,3}(?:polic|rule|requirement|length|format|reset|expir|change|manager|header|field|name)|-?richtlinie)[^:=\n.]{0,40}?((?:(?<!\p{L})(?:is|lautet|ist|est|es|é|è)(?!\p{L})\s{0,3}:?|[:=])\s{0,3}["'“»`]?)([^\n.;,"'”«`]{4,60})/giu
const maxSecrets = 20
const maxOpenUnits = 2_000_000

/**
 * Maps back from lower case ("İ" becomes two characters). Costs 50 times toLowerCase(), and most answers
 * disclose nothing, so it is computed on a match only.
 */
const originOfLowerCase = (text: string) =>
  foldCharacters(text, (character) => character.toLowerCase()).originOf

/** A secret told by an answer, or a word of one that the answer may have another reason to say. */
export interface DisclosedSecret {
  isProof: boolean
  start: number
  end: number
}

/** Collects a system prompt's secrets and finds them in answers. What a user or tool also said is none. */
export function createSecretFinder() {
  const secrets = new Map<string, { isProof: boolean }>()
  const open: string[] = []
  let openUnits = 0
  const add = (secret: string, isProof: boolean) => {
    const key = secret.trim().toLowerCase()
    if (secrets.size < maxSecrets && key.length >= 4)
      secrets.set(key, { isProof: isProof || secrets.get(key)?.isProof === true })
  }
  return {
    readPrompt(text: string): void {
      for (const sentence of text.split(/\n|(?<=[.!?])\s/)) {
        const isSecret = secretWord.test(sentence)
        if (!isSecret && !keptQuiet.test(sentence)) continue
        for (const [found] of sentence.matchAll(unguessable)) add(found, isSecret && looksRandom(found))
        for (const [, name = '', sign = '', value = ''] of sentence.matchAll(named))
          add(value, provesKnowledge(name, sign, value))
        for (const [found] of sentence.matchAll(code)) add(found, false)
      }
    },
    readOpen(text: string): void {
      openUnits += text.length
      if (openUnits <= maxOpenUnits) open.push(text)
    },
    find(answer: string): DisclosedSecret[] {
      if (secrets.size === 0) return []
      const folded = answer.toLowerCase()
      const disclosed = [...secrets].flatMap(([secret, { isProof }]) => {
        const start = folded.indexOf(secret)
        if (start === -1 || open.some((text) => text.toLowerCase().includes(secret))) return []
        return [{ isProof, start, end: start + secret.length }]
      })
      if (disclosed.length === 0) return []
      const originOf = originOfLowerCase(answer)
      return disclosed.map(({ isProof, start, end }) => ({
        isProof,
        start: originOf(start),
        end: originOf(end),
      }))
    },
  }
}

/** Model, resource and page names are words with a number or date. Random ones mix both in one part. */
function looksRandom(found: string): boolean {
  return found.split(/[-_]/).some((part) => part.length >= 6 && /\d/.test(part) && /[A-Za-z]/.test(part))
}

/**
 * Whether saying the value proves knowledge of the secret. A dictionary word may be said by chance, and "is
 * case sensitive" of any password. Letters with digits, and a passphrase set apart, prove it.
 */
function provesKnowledge(name: string, sign: string, value: string): boolean {
  const words = value.trim().split(/\s+/)
  if (words.length === 1) return /\d/.test(value) && /\p{L}/u.test(value) && value.length >= 6
  return /phrase/i.test(name) && /[^\p{L}\s]/u.test(sign) && words.length <= 6 && value.length >= 10
}
