import type { CallText } from '../call-text.ts'
import { onceForText } from '../once-for-text.ts'

/** Languages that are told apart. `other`: letters of a script, or words, that are none of them. */
export type Language = keyof typeof functionWords | Exclude<(typeof scripts)[number][0], null> | 'other'

/** A longer text is judged by its start: 4 KiB take 50 µs. */
const maxUnits = 4_096
/** Fewer words (`ok`, a parameter's value) have no recognisable language. */
const minWords = 4
/** Least share of function words in prose. Lists of names and code stay below. */
const minShare = 0.14

const functionWords = {
  en: 'the of and to in is that it for was on are with as be this have from you your not but what can which their will would how',
  de: 'der die und das ist nicht ein eine zu den mit sich auf für dem von sie ich auch es wie bei oder wir ihr bitte dass werden mir',
  fr: 'le la les des et est une du que pour dans qui pas sur au avec ce il vous je ne nous votre vos sont mais ou cette toutes',
  es: 'el los las de que es una en del por con para se lo como su al está pero más tu todas sus usted qué cómo las este',
  it: 'il di che la un una per non con del della le gli sono si da nel questo anche tutti tutte sul alla mi tuo quali ma',
  pt: 'os as de que um uma do da em para com não no na por se mais como seu sua você ao todas são isso foi meu',
  nl: 'de het een en van is dat niet op te zijn voor met die aan er om ook als maar je wat uw deze alle mijn naar',
  pl: 'nie na się do to że jest jak od po co czy przez dla są tym wszystkie proszę który mi jego',
  tr: 've bir bu için ile da de ne olarak çok daha gibi olan ben sen tüm lütfen nasıl ama kadar değil mi bana',
  sv: 'och att det som en är på för av med den till inte om ett har jag du var kan alla detta din från',
  cs: 'se na je že to do ve jako pro jsem by si ale tak jak všechny prosím který podle není',
  ro: 'și de la în cu pe nu este că din un să pentru care mai sunt ce al toate te rog cum',
  id: 'yang dan di untuk dengan ini itu dari adalah tidak pada ke dalam akan saya anda semua tolong bisa apa',
  vi: 'và của là có không cho được với các một này trong những để tôi bạn hãy tất cả như',
} as const

/** Scripts that stand for a language, and their letters. Any kana makes a text Japanese. */
const scripts = [
  ['ja', /[\p{sc=Hiragana}\p{sc=Katakana}]/gu],
  ['ko', /\p{sc=Hangul}/gu],
  ['zh', /\p{sc=Han}/gu],
  ['uk', /[іїєґІЇЄҐ]/gu],
  ['ru', /\p{sc=Cyrillic}/gu],
  ['ar', /\p{sc=Arabic}/gu],
  ['he', /\p{sc=Hebrew}/gu],
  ['hi', /\p{sc=Devanagari}/gu],
  ['th', /\p{sc=Thai}/gu],
  ['el', /\p{sc=Greek}/gu],
] as const satisfies readonly (readonly [string, RegExp])[]

const languagesOfWord = new Map<string, (keyof typeof functionWords)[]>()
for (const [language, words] of Object.entries(functionWords))
  for (const word of new Set(words.split(' ')))
    languagesOfWord.set(word, [...(languagesOfWord.get(word) ?? []), language as keyof typeof functionWords])

const letterBeyondLatin = /[^\P{L}\p{Script=Latin}]/gu
/** Single letters are names in code as often as words. */
const wordPattern = /\p{L}[\p{L}\p{M}]+/gu

/**
 * The language of a text's start; null where there are too few words to tell, as in names, numbers and code.
 * Function words decide between languages in Latin letters, the script between the others.
 */
export function identifyLanguage(text: string): Language | null {
  const start = text.slice(0, maxUnits)
  const beyond = start.match(letterBeyondLatin)?.length ?? 0
  if (beyond > 0) {
    const latin = (start.match(/\p{Script=Latin}/gu)?.length ?? 0) / 3
    // Three Latin letters count as one: product names and addresses stand in texts of every script.
    if (beyond > 3 && beyond > latin) return languageOfScript(start, beyond)
  }
  return languageOfWords(start)
}

/** The same for a call's text, cached: four detectors ask. */
export function languageOf(text: CallText): Language | null {
  return identified(text).language
}
const identified = onceForText(({ text }) => ({ language: identifyLanguage(text) }))

function languageOfScript(text: string, letters: number): Language {
  for (const [language, letter] of scripts) {
    const share = (text.match(letter)?.length ?? 0) / letters
    if (share > (language === 'ja' || language === 'uk' ? 0.02 : 0.5)) return language
  }
  return 'other'
}

function languageOfWords(text: string): Language | null {
  const words = text.toLowerCase().match(wordPattern) ?? []
  if (words.length < minWords) return null
  const hits = new Map<Language, number>()
  for (const word of words)
    for (const language of languagesOfWord.get(word) ?? []) hits.set(language, (hits.get(language) ?? 0) + 1)
  const [best] = [...hits].sort(([, one], [, other]) => other - one)
  return best !== undefined && best[1] >= Math.max(1, words.length * minShare) ? best[0] : null
}
