import { foldCharacters } from '../fold-characters.ts'

/** Sentences of a system prompt that hold something nobody is to learn. */
const secretWord =
  /canary|secret|confidential|password|pass ?phrase|pass ?code|code ?word|api[ _-]?key|access key|private key|credential|bearer|\b(?:do not|don't|never) (?:reveal|share|disclose|repeat)|geheim|vertraulich|passwort|kennwort|mot de passe|contraseña|\bsenha\b|парол|密码|秘密|パスワード|비밀/i
/** What is not to be mentioned is as often a product, a norm or a discount, which an answer has other reasons to name. */
const keptQuiet = /\b(?:do not|don't|never) (?:show|tell|give|mention|print|output)\b/i
/** Letters and digits mixed, or a UUID. */
const unguessable =
  /(?<![\w-])(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])[A-Za-z0-9][\w-]{9,60}[A-Za-z0-9](?![\w-])/g
/** Letters and digits mixed, too short to be no product's name. */
const code = /(?<![\w-])(?=[\w-]{0,12}\d)(?=[\w-]{0,12}[A-Za-z])[A-Za-z0-9][\w-]{2,9}[A-Za-z0-9](?![\w-])/g
/** What is called a password is one, whatever it consists of; what is said of passwords, and of the field or the header for one, is none. */
const named =
  /\b(password|pass ?phrase|pass ?code|code ?word|secret (?:word|phrase|code)|api[ _-]?key|passwort|kennwort|mot de passe|contraseña|senha)\b(?!\W{1,3}(?:polic|rule|requirement|length|format|reset|expir|change|manager|header|field|name)|-?richtlinie)[^:=\n.]{0,40}?((?:(?<!\p{L})(?:is|lautet|ist|est|es|é|è)(?!\p{L})\s{0,3}:?|[:=])\s{0,3}["'“»`]?)([^\n.;,"'”«`]{4,60})/giu
const maxSecrets = 20
const maxOpenUnits = 2_000_000

/** The way back from lower case: "İ" becomes two characters. What is lower case itself costs a fiftieth, and most answers tell nothing. */
const wayBack = (text: string) => foldCharacters(text, (character) => character.toLowerCase()).originOf

/** What an answer tells of a prompt's secrets: one that says it beyond doubt, or a word that may stand in it for another reason. */
export interface ToldSecret {
  isProof: boolean
  start: number
  end: number
}

/** Collects the secrets of a system prompt and finds them in answers. What a user or a tool said too is none. */
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
        for (const [found] of sentence.matchAll(unguessable)) add(found, isSecret && isDrawn(found))
        for (const [, name = '', sign = '', value = ''] of sentence.matchAll(named))
          add(value, isSaidByKnowing(name, sign, value))
        for (const [found] of sentence.matchAll(code)) add(found, false)
      }
    },
    readOpen(text: string): void {
      openUnits += text.length
      if (openUnits <= maxOpenUnits) open.push(text)
    },
    find(answer: string): ToldSecret[] {
      if (secrets.size === 0) return []
      const folded = answer.toLowerCase()
      const told = [...secrets].flatMap(([secret, { isProof }]) => {
        const start = folded.indexOf(secret)
        if (start === -1 || open.some((text) => text.toLowerCase().includes(secret))) return []
        return [{ isProof, start, end: start + secret.length }]
      })
      if (told.length === 0) return []
      const originOf = wayBack(answer)
      return told.map(({ isProof, start, end }) => ({ isProof, start: originOf(start), end: originOf(end) }))
    },
  }
}

/** Names of models, resources and pages are words with a number or a date: of what was drawn by lot a part is letters and digits. */
function isDrawn(found: string): boolean {
  return found.split(/[-_]/).some((part) => part.length >= 6 && /\d/.test(part) && /[A-Za-z]/.test(part))
}

/**
 * One word of a dictionary may be said of itself, and "is case sensitive" of any password: letters with digits, and the words of a passphrase that is set
 * apart, are said by who knows them.
 */
function isSaidByKnowing(name: string, sign: string, value: string): boolean {
  const words = value.trim().split(/\s+/)
  if (words.length === 1) return /\d/.test(value) && /\p{L}/u.test(value) && value.length >= 6
  return /phrase/i.test(name) && /[^\p{L}\s]/u.test(sign) && words.length <= 6 && value.length >= 10
}
