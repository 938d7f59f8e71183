import { findMatches } from '../find-matches.ts'
import type { Identifier } from './identifier.ts'
import { wordGate } from './word-gate.ts'

/** Digits in words, with what is said between them. */
const digits = {
  en: 'zero|oh|nought|one|two|three|four|five|six|seven|eight|nine|double|triple',
  de: 'null|eins|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun|doppel',
  fr: 'zéro|un|deux|trois|quatre|cinq|six|sept|huit|neuf',
  es: 'cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|doble',
  it: 'zero|uno|due|tre|quattro|cinque|sei|sette|otto|nove|doppio',
  pt: 'zero|um|dois|três|quatro|cinco|seis|meia|sete|oito|nove',
  nl: 'nul|een|één|twee|drie|vier|vijf|zes|zeven|acht|negen|dubbel',
  pl: 'zero|jeden|dwa|trzy|cztery|pięć|sześć|siedem|osiem|dziewięć',
  tr: 'sıfır|bir|iki|üç|dört|beş|altı|yedi|sekiz|dokuz',
  sv: 'noll|ett|två|tre|fyra|fem|sex|sju|åtta|nio',
  ru: 'ноль|нуль|один|два|три|четыре|пять|шесть|семь|восемь|девять',
} as const
const [minDigits, maxDigits] = [7, 20]
const between = String.raw`[\s,.;–-]{1,3}(?:(?:then|and|dann|und|puis|et|luego|y|poi|e|depois|dan|en|potem|i|sonra|ve|sedan|och|потом|и)[\s,]{1,2})?`
const spoken = Object.values(digits).map(
  (words) =>
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:(?:plus|plus|плюс) )?(?:${words})(?:${between}(?:${words})){${minDigits - 1},${maxDigits - 1}}(?![\p{L}\p{N}])`,
      'giu',
    ),
)
/** In one run of characters. Counting up is a song or a lesson. */
const chinese = /[零〇一二三四五六七八九幺两]{8,15}/gu
const phoneBefore =
  /(?:phone|number|mobile|cell|call|dial|text|reach|line|extension|telefon|nummer|handy|anruf|numéro|téléphone|appel|portable|número|teléfono|móvil|celular|llam|numero|telefono|cellulare|chiam|telefone|telemóvel|lig(?:ue|ar)|nummer|bel|telefoon|numer|dzwoń|komórk|numara|ara|ring|mobil|номер|телефон|звон|电话|手机|号码|番号|電話|携帯|전화|번호)\P{L}?[^\n]{0,48}$/iu
const countingUp =
  /^(?:one\P{L}{1,4}two\P{L}{1,4}three\P{L}{1,4}four|eins\P{L}{1,4}zwei\P{L}{1,4}drei\P{L}{1,4}vier|uno\P{L}{1,4}dos\P{L}{1,4}tres\P{L}{1,4}cuatro|un\P{L}{1,4}deux\P{L}{1,4}trois\P{L}{1,4}quatre|один\P{L}{1,4}два\P{L}{1,4}три\P{L}{1,4}четыре|一二三四五)/iu
/** Two digits together: cheaper than eleven patterns, and most texts have none. */
const allDigits = [...new Set(Object.values(digits).flatMap((words) => words.split('|')))].join('|')
const twoDigits = new RegExp(String.raw`(?:${allDigits})[\s,.;–-]{1,3}(?:${allDigits})[\s,.;–-]`, 'i')
const mayName = wordGate(
  'phone number mobile cell call dial text reach line extension telefon telefoon telephone téléphone telefono telefone teléfono nummer handy anruf numéro numero numer numara appel portable móvil celular llama llamar cellulare chiama chiamami ligue ligar bel dzwoń komórka komórkowy ara ring mobil',
)
const maySay = wordGate(
  'three four five six seven eight nine drei vier fünf sechs sieben acht neun trois quatre cinq huit neuf tres cuatro cinco seis siete ocho nueve tre quattro cinque sei sette otto nove quatro sete oito drie vijf zes zeven negen trzy cztery pięć sześć siedem osiem dziewięć üç dört beş altı yedi sekiz dokuz fyra fem sex sju nio три',
)

/** Telephone numbers in words: "four one five, five five five, two six seven one". */
export function* findSpokenNumbers(text: string): Generator<Identifier> {
  const patterns = [
    ...(mayName(text) && maySay(text) && twoDigits.test(text) ? spoken : []),
    ...(/[一二三]/.test(text) ? [chinese] : []),
  ]
  for (const pattern of patterns) {
    for (const { 0: match, index } of findMatches(text, pattern)) {
      if (countingUp.test(match) || !phoneBefore.test(text.slice(Math.max(0, index - 64), index))) continue
      yield { kind: 'phone_number', start: index, end: index + match.length }
    }
  }
}
