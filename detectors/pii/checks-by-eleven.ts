import { weighted } from './check-digits.ts'

/** True if 11 minus the weighted sum mod 11 is the last digit. Schemes differ in what 10 and 11 become. */
function passesEleven(
  digits: string,
  weights: readonly number[],
  [forTen, forEleven]: readonly [number, number],
): boolean {
  const check = 11 - (weighted(digits.slice(0, weights.length), weights) % 11)
  return (check === 10 ? forTen : check === 11 ? forEleven : check) === Number(digits.charAt(weights.length))
}

/** True if the last digit is the weighted sum mod 11, or 0 for 10. */
function isElevensRest(digits: string, weights: readonly number[]): boolean {
  const rest = weighted(digits.slice(0, weights.length), weights) % 11
  return rest % 10 === Number(digits.charAt(weights.length))
}

/** Belgium's national number: 97 minus the number mod 97, with a leading 2 for births since 2000. */
export function passesBelgianId(digits: string): boolean {
  const [number, check] = [Number(digits.slice(0, 9)), Number(digits.slice(9))]
  return [number, 2_000_000_000 + number].some((whole) => 97 - (whole % 97) === check)
}

/** Finland's personal identity code: a sign over mod 31. */
export function passesFinnishId(text: string): boolean {
  const digits = text.slice(0, 6) + text.slice(-4, -1)
  return '0123456789ABCDEFHJKLMNPRSTUVWXY'.charAt(Number(digits) % 31) === text.slice(-1)
}

/** Norway's national identity number: two digits, each mod 11. */
export function passesNorwegianId(digits: string): boolean {
  return (
    passesEleven(digits, [3, 7, 6, 1, 8, 9, 4, 5, 2], [-1, 0]) &&
    passesEleven(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2], [-1, 0])
  )
}

/** Portugal's tax number: mod 11. */
export function passesPortugueseTaxNumber(digits: string): boolean {
  return passesEleven(digits, [9, 8, 7, 6, 5, 4, 3, 2], [0, 0])
}

/** The United Kingdom's NHS number: mod 11. */
export function passesNhs(digits: string): boolean {
  return passesEleven(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2], [-1, 0])
}

/** Argentina's CUIT and CUIL: mod 11. */
export function passesCuit(digits: string): boolean {
  return passesEleven(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2], [9, 0])
}

/** Chile's RUT: mod 11 with a K. */
export function passesRut(text: string): boolean {
  const digits = text.slice(0, -1)
  const check = 11 - (weighted(digits, (index) => ((digits.length - 1 - index) % 6) + 2) % 11)
  return (check === 11 ? '0' : check === 10 ? 'K' : String(check)) === text.slice(-1)
}

/** Ireland's PPS number: a letter over mod 23; a second letter weighs nine. */
export function passesPps(text: string): boolean {
  const second = text.charAt(8)
  const sum =
    weighted(text.slice(0, 7), (index) => 8 - index) + (second === '' ? 0 : 9 * (second.charCodeAt(0) - 64))
  return 'WABCDEFGHIJKLMNOPQRSTUV'.charAt(sum % 23) === text.charAt(7)
}

/** Romania's CNP: mod 11. */
export function passesCnp(digits: string): boolean {
  const weights = [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]
  const rest = weighted(digits.slice(0, 12), weights) % 11
  return (rest === 10 ? 1 : rest) === Number(digits.charAt(12))
}

/** Bulgaria's EGN: mod 11. */
export function passesEgn(digits: string): boolean {
  return isElevensRest(digits, [2, 4, 8, 5, 10, 9, 7, 3, 6])
}

/** Singapore's NRIC and FIN: a letter over mod 11, by the series. */
export function passesNric(text: string): boolean {
  const weights = [2, 7, 6, 5, 4, 3, 2]
  const series = text.charAt(0)
  const sum = weighted(text.slice(1, 8), weights) + (/[TG]/.test(series) ? 4 : 0)
  return (/[ST]/.test(series) ? 'JZIHGFEDCBA' : 'XWUTRQPNMLK').charAt(sum % 11) === text.charAt(8)
}

/** Taiwan's identity number: the letter is two digits, mod 10. */
export function passesTaiwaneseId(text: string): boolean {
  const letter = 10 + 'ABCDEFGHJKLMNPQRSTUVXYWZIO'.indexOf(text.charAt(0))
  const sum = Math.floor(letter / 10) + (letter % 10) * 9 + weighted(text.slice(1, 9), (index) => 8 - index)
  return (10 - (sum % 10)) % 10 === Number(text.charAt(9))
}

/** Thailand's identity number: mod 11. */
export function passesThaiId(digits: string): boolean {
  return (11 - (weighted(digits.slice(0, 12), (index) => 13 - index) % 11)) % 10 === Number(digits.charAt(12))
}

/** The Czech and Slovak birth number: divisible by 11. */
export function passesBirthNumber(digits: string): boolean {
  return Number(digits) % 11 === 0
}

/** Estonia's and Lithuania's personal code: mod 11, with other weights where that is 10. */
export function passesBalticId(digits: string): boolean {
  const rest = (shift: number) => weighted(digits.slice(0, 10), (index) => ((index + shift) % 9) + 1) % 11
  const check = rest(0) === 10 ? rest(2) % 10 : rest(0)
  return check === Number(digits.charAt(10))
}

/** Austria's social insurance number: the fourth digit is mod 11 of the others. */
export function passesAustrianId(digits: string): boolean {
  const weights = [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]
  return weighted(digits, weights) % 11 === Number(digits.charAt(3))
}

/** Ukraine's tax number of persons: mod 11. */
export function passesUkrainianId(digits: string): boolean {
  return isElevensRest(digits, [10, 5, 7, 9, 4, 6, 10, 5, 7])
}

/** Russia's personal tax number: two digits, each mod 11. A company's has ten digits and is public. */
export function passesRussianTaxNumber(digits: string): boolean {
  const weights = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]
  return isElevensRest(digits, weights.slice(1)) && isElevensRest(digits, weights)
}
