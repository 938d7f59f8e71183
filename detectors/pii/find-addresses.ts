import { findMatches } from '../find-matches.ts'
import { addressForms, streetEnding, type AddressForm } from './address-patterns.ts'
import { wordGate } from './word-gate.ts'
import { addressBefore, homeAfter, homeBefore, publicPlace, sentBefore } from './person-signs.ts'

/** A street address (UTF-16 offsets), and what is said of it. */
export interface AddressSpan {
  start: number
  end: number
  /** `home`: somebody lives there. `sent`: something is sent there. `form`: a field "address". */
  said: 'home' | 'sent' | 'form' | 'public' | null
}

/** In every form a number is beside a word. Numbers of data mostly are not. */
const mayHave = /[A-Za-z\u00aa-\uffff.,] \d|No[:.]? ?\d|\d[A-Za-z]?,? [A-Za-z\u00c0-\uffff]|[\u0600-\uffff]\d/
const reachBefore = 120
const maxFound = 200
/** After "lives at", "my address is": any words with a number before or behind. */
const anyForm =
  /(?<=[\s:：?>])(?:\d{1,6} )?(?:\d{1,6}[a-z]?,? \p{Lu}[\p{L}'’.-]{1,30}(?: \p{Lu}[\p{L}'’.-]{1,30}){1,3}(?=[,.\n]|$)|(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|API|Room|Page|Gate|Level|Chapter|Version)(?:\p{Lu}[\p{L}'’.-]{2,30} ){1,4}\d{1,5}[a-z]?(?![\p{L}\p{N}:%]|[.,]\d))/gu
/** The same in small letters, where only the word for a street tells an address. */
const smallForms: readonly AddressForm[] = [
  {
    form: /(?<=[\s:：?>])(?:\d{1,6} )?(?:\d{1,6}[a-z]?,? (?!(?:minutes?|mins?|hours?|days?|miles?|kilomet\w{1,4}|km|blocks?|steps?|met(?:er|re)s?|yards?|doors?|houses?|feet)(?!\p{L}))(?:[\p{L}'’.-]{2,30} ){1,3}(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|court|boulevard|blvd|way|walk|place|square|terrace|close|crescent)(?![\p{L}\p{N}])|(?:rue|calle|via|rua|rúa|avenida|ulica|ul\.) (?:[\p{L}'’.-]{1,30} ){1,4}\d{1,5}(?![\p{L}\p{N}])|(?:unit|psc) \d{1,5},? box \d{1,5})/gu,
    mayMatch: wordGate(
      'street st avenue ave road rd lane ln drive dr court boulevard blvd way walk place square terrace close crescent rue calle via rua rúa avenida ulica ul box',
    ),
  },
  {
    form: /(?<=[\s:：?>])(?:\d{1,6} )?(?:[\p{L}'’.-]{1,30} ){0,2}[\p{L}'’.-]{2,30}(?:stra(?:ß|ss)e|str\.|weg|platz|gasse|straat|laan|gatan|vej|gade) \d{1,5}[a-z]?(?![\p{L}\p{N}])/gu,
    mayMatch: (text) => streetEnding.test(text),
  },
]

/** Street addresses in the forms of the languages of `address-patterns.ts`, and any form after "lives at". */
export function findAddresses(text: string): AddressSpan[] {
  if (!mayHave.test(text)) return []
  const found: AddressSpan[] = []
  const add = (start: number, end: number, isLoose = false) => {
    if (found.some((other) => start < other.end && other.start < end)) return
    const said = saidOf(text, start, end)
    if (!isLoose || said === 'home' || said === 'sent' || said === 'form') found.push({ start, end, said })
  }
  for (const { form, mayMatch } of addressForms)
    for (const { 0: match, index } of mayMatch(text) ? findMatches(text, form, maxFound) : [])
      add(index + introOf(match), index + match.trimEnd().length)
  if (!mayHaveHome(text)) return inOrder(found)
  for (const { form, mayMatch } of [{ form: anyForm, mayMatch: mayHaveHome }, ...smallForms])
    for (const { 0: match, index } of mayMatch(text) ? findMatches(text, form, maxFound) : [])
      add(index, index + match.trimEnd().length, true)
  return inOrder(found)
}

/** Cheaper than `homeBefore`, which runs for each address. */
const mayHaveHome = wordGate(
  'live lives lived living reside resident address adresse anschrift meet moved wohnt wohne wohnen wohnhaft wohnadresse gemeldet habite habitons demeure domicile vive vivo viven vivimos dirección abito abita indirizzo moro mora moramos endereço woon woont wonen adres mieszka mieszkam zamieszkały oturuyor ikamet yaşıyor bydlí trvale locuiește tinggal sống',
)

/** Words of a script without spaces that lead to an address and are not part of it. */
function introOf(match: string): number {
  return (
    /^\p{sc=Han}{0,5}?(?:家住|住在|住址是?|地址是?|寄到|送到|位于|我住|住所は|在)/u.exec(match)?.[0].length ??
    0
  )
}

function inOrder(found: AddressSpan[]): AddressSpan[] {
  return found.sort((one, other) => one.start - other.start)
}

function saidOf(text: string, start: number, end: number): AddressSpan['said'] {
  if (example.test(text.slice(start, end))) return 'public'
  const before = text.slice(Math.max(0, start - reachBefore), start)
  const home = homeBefore.exec(before)
  const place = findMatches(before.slice(-60), everyPlace).at(-1)
  const placeAt = place === undefined ? -1 : before.length - Math.min(60, before.length) + place.index
  if (home !== null && home.index > placeAt) return 'home'
  if (homeAfter.test(text.slice(end, end + 24))) return 'home'
  const sent = sentBefore.exec(before)
  if (sent !== null && sent.index > placeAt) return 'sent'
  if (place !== undefined) return 'public'
  return addressBefore.test(before) ? 'form' : null
}

const everyPlace = new RegExp(publicPlace.source, `g${publicPlace.flags}`)
/** Made-up numbers before the street names of every example. */
const example =
  /^(?:1|12|123|1234|12345|42|100|101|111|222|321|456|567|678|789|999|1111|5678)[A-Za-z]?,? (?:N\.? |E\.? |S\.? |W\.? )?(?:main|elm|oak|maple|pine|cedar|birch|any|example|sample|fake|test|evergreen|first|high|your|some|street|muster|beispiel)/i
