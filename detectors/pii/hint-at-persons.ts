import { findGated, gatePattern } from '../gate/gated-pattern.ts'
import { wordStartsOf } from '../gate/word-starts.ts'
import { hasBeyondAscii, wordGate } from './word-gate.ts'

/** Signs of a private person: words near names, and address forms. No proof: many names are public. */
const hints = [
  /\b(?:my|his|her|our|their) (?:ex-?)?(?:wife|husband|son|daughter|brother|sister|mother|father|mum|mom|dad|boss|neighbou?r|landlord|tenant|patient|client|customer|colleague|coworker|doctor|teacher|friend|girlfriend|boyfriend|partner) [a-z]{3,20} [a-z]{3,20}/i,
  /\b(?:my|his|her|their|our|whose) (?:full |first |last |legal |maiden )?name(?:'s| is| was)?\b/i,
  /\b(?:Mr|Mrs|Ms|Mx|Miss|Dr|Prof|Herr|Frau|Mme|Sr|Sra|Monsieur|Madame)\.? \p{Lu}\p{L}+/u,
  /\b(?:[Ii] am|I'm|[Tt]his is|[Nn]ame:|[Dd]ear|[Rr]egards,|[Ss]incerely,|[Cc]heers,|[Bb]est,|[Pp]atient|[Ee]mployee|[Cc]ustomer|[Cc]lient|[Tt]enant|[Cc]olleague|[Nn]eighbou?r|[Ss]igned)\s{1,3}\p{Lu}\p{Ll}+(?: \p{Lu}[\p{L}.]+)?/u,
  // A number and a street, or a street and a number: "221b Baker Street", "Hauptstraße 5".
  /\b\d{1,5}[a-z]?,? (?:\p{Lu}[\p{L}'.-]+ ){1,4}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Court|Ct|Boulevard|Blvd|Way|Place|Pl|Square|Terrace|Close|Highway|Hwy)\b/u,
  /\b\p{Lu}[\p{L}-]{1,40}(?:stra(?:ß|ss)e|str\.|weg|platz|gasse|gade|gatan|straat|laan|utca|ulica) \d{1,4}\b/u,
  /\b(?:[Rr]ue|[Cc]alle|[Vv]ia|[Aa]venida|[Rr]ua|[Aa]v\.) (?:\p{L}+ ){0,3}\p{Lu}[\p{L}]+,? \d{1,4}\b/u,
  /\b(?:apt|apartment|suite|p\.? ?o\.? box|zip(?: code)?|postcode|postal code)\b\.?:? ?#?\w{1,8}\d/i,
  /\b(?:born (?:on|in)|date of birth|d\.?o\.?b\.?|lives? (?:at|in|on)|living (?:at|in)|home address|resides?|diagnosed with|social security|maiden name)\b/i,
  // Grouped as some countries write telephone numbers: "71-33-52-22".
  /(?<![\d.-])\d{2,4}(?:-\d{2,4}){2,3}(?![\d.-])/,
  // Account numbers have no check digit, and passwords in prose have no form.
  /\b(?:account|acct|a\/c|routing|sort code|iban|bsb|ifsc|pin|cvv|cvc|passcode|password|pass|login)\b[^\n]{0,16}\d{3}/i,
].map((hint) => gatePattern(new RegExp(hint, `${hint.flags}g`)))
/** Two capitalised words inside a sentence: most full names, but also titles, places and firms. */
const nameLike =
  /(?<=[\p{Ll},;] )(?!(?:The|An?|New|United|North|South|East|West|Saint|San|Los|Las|World|Great|Prime|White) )\p{Lu}\p{Ll}+(?: \p{Lu}\.)? \p{Lu}\p{Ll}+\b/u

/** The same in scripts without capitals, and in other languages: words beside names. */
const otherHints =
  /我叫|我的名字|家住|我住|先生|女士|小姐|姓名|住址|と申し|私の名前|氏名|様[、。はのがを]|さん[、。はのがをにと]|住所|이름은|성명|저는|님[은이의께]|씨[는가의를]|주소|اسمي|السيد|عنواني|أسكن|меня зовут|мо[йяё] (?:имя|адрес|номер)|живу|проживаю|mein name|ich heiße|ich wohne|je m['’]appelle|j['’]habite|me llamo|vivo en|mi chiamo|abito|me chamo|moro|ik heet|ik woon|nazywam|mieszkam|adım|oturuyorum|jag heter|jag bor/iu
const foreignStart = wordGate('mein ich je me vivo mi abito moro ik nazywam mieszkam oturuyorum jag')

/** True if a text may name a private person: then only a judge can rule it out. */
export function hintsAtPersons(text: string): boolean {
  if (nameLike.test(text)) return true
  const starts = wordStartsOf(text)
  return (
    hints.some((hint) => findGated(text, starts, hint, 1).length > 0) ||
    ((hasBeyondAscii(text) || foreignStart(text)) && otherHints.test(text))
  )
}
