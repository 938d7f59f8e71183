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
const spoken = Object.values(digits).map((words) => {
  const repeated = String.raw`(?:${words})(?:${between}(?:${words})){${minDigits - 1},${maxDigits - 1}}`
  // English, which most texts are: without the flag `u` it is three times as fast.
  if (words === digits.en) return new RegExp(String.raw`\b${repeated}\b`, 'gi')
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${repeated}(?![\p{L}\p{N}])`, 'giu')
})
/** In one run of characters. Counting up is a song or a lesson. */
const chinese = /[零〇一二三四五六七八九幺两]{8,15}/gu
const phoneBefore =
  /(?:phone|number|mobile|cell|call|dial|text|reach|line|extension|telefon|nummer|handy|anruf|numéro|téléphone|appel|portable|número|teléfono|móvil|celular|llam|numero|telefono|cellulare|chiam|telefone|telemóvel|lig(?:ue|ar)|nummer|bel|telefoon|numer|dzwoń|komórk|numara|ara|ring|mobil|номер|телефон|звон|电话|手机|号码|番号|電話|携帯|전화|번호)\P{L}?[^\n]{0,48}$/iu
const countingUp =
  /^(?:one\P{L}{1,4}two\P{L}{1,4}three\P{L}{1,4}four|eins\P{L}{1,4}zwei\P{L}{1,4}drei\P{L}{1,4}vier|uno\P{L}{1,4}dos\P{L}{1,4}tres\P{L}{1,4}cuatro|un\P{L}{1,4}deux\P{L}{1,4}trois\P{L}{1,4}quatre|один\P{L}{1,4}два\P{L}{1,4}три\P{L}{1,4}четыре|一二三四五)/iu
/** The digits of each language, one gate each. */
const gates = Object.values(digits).map((words) => words.split('|').map((word) => wordGate(word)))
/** A number has at least three different digits, almost always four. */
const minDifferent = 3
const maySay = wordGate(
  'three four five eight nine drei vier sechs sieben acht neun trois quatre cinq huit neuf tres cuatro cinco seis siete ocho nueve quattro cinque sette otto quatro sete oito drie vijf zeven acht negen trzy cztery osiem dokuz yedi sekiz fyra nio три',
)
const mayName = wordGate(
  'phone number mobile cell call dial reach telefon telefoon telephone téléphone telefono telefone nummer handy anruf numero numer numara appel portable celular llama llamar cellulare chiama chiamami ligue ligar dzwoń ring mobil номер',
)

/** Telephone numbers in words: "four one five, five five five, two six seven one". */
export function* findSpokenNumbers(text: string): Generator<Identifier> {
  const patterns =
    maySay(text) && mayName(text)
      ? spoken.filter((_, at) => (gates[at] ?? []).filter((mayHave) => mayHave(text)).length >= minDifferent)
      : []
  for (const pattern of [...patterns, ...(/[一二三]/.test(text) ? [chinese] : [])]) {
    for (const { 0: match, index } of findMatches(text, pattern)) {
      if (countingUp.test(match) || !phoneBefore.test(text.slice(Math.max(0, index - 64), index))) continue
      yield { kind: 'phone_number', start: index, end: index + match.length }
    }
  }
}
