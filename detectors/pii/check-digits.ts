/** Checksums of identifiers. Input: digits (and letters, if the scheme has them) without separators. */

export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48
    const doubled = digit * 2
    sum += index % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** A prescriber's number of the US Drug Enforcement Administration. */
export function passesDea(text: string): boolean {
  const digits = Array.from(text.slice(2), Number)
  const sum = digits.slice(0, 6).reduce((total, digit, index) => total + digit * (index % 2 === 0 ? 1 : 2), 0)
  return sum % 10 === digits[6]
}

/** IBAN length by country. Without it one digest in a thousand passes as an account. */
const ibanLengths = new Map(
  `NO15 BE16 FI18 DK18 FO18 GL18 NL18 SD18 MK19 SI19 AT20 BA20 EE20 KZ20 LT20 LU20 XK20 MN20 CH21 HR21 LI21 LV21 CR22 BG22 BH22 DE22 GB22 GE22
  IE22 ME22 RS22 VA22 AE23 GI23 IL23 IQ23 TL23 OM23 SO23 AD24 CZ24 ES24 MD24 PK24 RO24 SA24 SE24 SK24 TN24 VG24 LY25 PT25 ST25 IS26 TR26 BI27
  DJ27 FR27 GR27 IT27 MC27 MR27 SM27 AL28 AZ28 BY28 CY28 DO28 GT28 HN28 HU28 LB28 NI28 PL28 SV28 BR29 EG29 PS29 QA29 UA29 JO30 KW30 MU30 YE30
  MT31 SC31 LC32 RU33`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

/** ISO 7064 mod 97-10 of an IBAN, with its country's length. */
export function passesIban(iban: string): boolean {
  if (ibanLengths.get(iban.slice(0, 2)) !== iban.length) return false
  let remainder = 0
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = parseInt(character, 36)
    if (Number.isNaN(value)) return false
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder === 1
}

/** Verhoeff (Aadhaar): the dihedral group of order ten. */
export function passesVerhoeff(digits: string): boolean {
  let check = 0
  for (let index = 0; index < digits.length; index++) {
    let digit = digits.charCodeAt(digits.length - 1 - index) - 48
    for (let round = index % 8; round > 0; round--) digit = permuted.charCodeAt(digit) - 48
    check = multiply(check, digit)
  }
  return check === 0
}
const permuted = '1576283094'

/** Multiplication in D5: rotations are 0–4, reflections 5–9. */
function multiply(left: number, right: number): number {
  if (left < 5) return right < 5 ? (left + right) % 5 : 5 + ((left + right) % 5)
  return right < 5 ? 5 + ((((left - right) % 5) + 5) % 5) : (((left - right) % 5) + 5) % 5
}

/** Brazil's CPF: two digits, each mod 11 over those before it. */
export function passesCpf(digits: string): boolean {
  if (/^(\d)\1*$/.test(digits)) return false
  const check = (length: number) => {
    const sum = weighted(digits.slice(0, length), (index) => length + 1 - index)
    return ((sum * 10) % 11) % 10
  }
  return check(9) === Number(digits.charAt(9)) && check(10) === Number(digits.charAt(10))
}

/** Spain's DNI and NIE: a letter over mod 23. */
export function passesDni(text: string): boolean {
  const digits = text.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)))
  return 'TRWAGMYFPDXBNJZSQVHLCKE'.charAt(Number(digits) % 23) === text.slice(-1)
}

/** France's NIR: 97 minus the number mod 97; Corsica's departments count as 19 and 18. */
export function passesNir(text: string): boolean {
  const digits = text.slice(0, 13).replace('2A', '19').replace('2B', '18')
  return 97n - (BigInt(digits) % 97n) === BigInt(text.slice(13))
}

/** Italy's codice fiscale: a letter over mod 26, characters in odd places by a table. */
export function passesCodiceFiscale(text: string): boolean {
  const oddValues = [
    1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
  ]
  let sum = 0
  for (let index = 0; index < 15; index++) {
    const code = text.charCodeAt(index)
    const place = code < 65 ? code - 48 : code - 65
    sum += index % 2 === 0 ? (oddValues[place] ?? 0) : place
  }
  return String.fromCharCode(65 + (sum % 26)) === text.charAt(15)
}

/** China's resident number: ISO 7064 mod 11-2. */
export function passesChineseId(text: string): boolean {
  const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
  return '10X98765432'.charAt(weighted(text.slice(0, 17), weights) % 11) === text.charAt(17)
}

/** Germany's tax number: ISO 7064 mod 11-10. */
export function passesGermanTaxId(digits: string): boolean {
  let product = 10
  for (const digit of digits.slice(0, 10)) {
    const sum = (Number(digit) + product) % 10 || 10
    product = (sum * 2) % 11
  }
  return (11 - product) % 10 === Number(digits.charAt(10))
}

/** Poland's PESEL. */
export function passesPesel(digits: string): boolean {
  const weights = [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]
  return weighted(digits, weights) % 10 === 0
}

/** The Netherlands' BSN: the eleven test. */
export function passesBsn(digits: string): boolean {
  return weighted(digits, (index) => (index === 8 ? -1 : 9 - index)) % 11 === 0 && !/^0+$/.test(digits)
}

/** Mexico's CURP: mod 10 over positions in an alphabet with Ñ. */
export function passesCurp(text: string): boolean {
  const alphabet = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ'
  let sum = 0
  for (let index = 0; index < 17; index++) sum += alphabet.indexOf(text.charAt(index)) * (18 - index)
  return (10 - (sum % 10)) % 10 === Number(text.charAt(17))
}

/** Japan's My Number: mod 11. */
export function passesMyNumber(digits: string): boolean {
  const weights = [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]
  const rest = weighted(digits.slice(0, 11), weights) % 11
  return (rest <= 1 ? 0 : 11 - rest) === Number(digits.charAt(11))
}

/** South Korea's resident number, as given until 2020: mod 11. */
export function passesKoreanId(text: string): boolean {
  const digits = text.replace(/\D/g, '')
  const sum = weighted(digits.slice(0, 12), (index) => (index % 8) + 2)
  return (11 - (sum % 11)) % 10 === Number(digits.charAt(12))
}

/** Russia's SNILS: mod 101. */
export function passesSnils(digits: string): boolean {
  return (weighted(digits.slice(0, 9), (index) => 9 - index) % 101) % 100 === Number(digits.slice(9))
}

/** Turkey's identity number: two digits over the others. */
export function passesTurkishId(digits: string): boolean {
  const odd = weighted(digits.slice(0, 9), (index) => (index % 2 === 0 ? 1 : 0))
  const even = weighted(digits.slice(0, 8), (index) => (index % 2 === 1 ? 1 : 0))
  const tenth = (((odd * 7 - even) % 10) + 10) % 10
  const all = weighted(digits.slice(0, 10), () => 1)
  return tenth === Number(digits.charAt(9)) && all % 10 === Number(digits.charAt(10))
}

/** Australia's tax file number: mod 11. */
export function passesAustralianTaxNumber(digits: string): boolean {
  const weights = [1, 4, 3, 7, 5, 8, 6, 9, 10]
  return weighted(digits, weights) % 11 === 0
}

/** EAN-13, as Switzerland's AHV number has it. */
export function passesEan(digits: string): boolean {
  return weighted(digits, (index) => (index % 2 === 0 ? 1 : 3)) % 10 === 0
}

/** Weighted sum of the digits; digits beyond the weights do not count. */
export function weighted(digits: string, weights: readonly number[] | ((index: number) => number)): number {
  const weightOf = typeof weights === 'function' ? weights : (index: number) => weights[index] ?? 0
  let sum = 0
  for (let index = 0; index < digits.length; index++) sum += (digits.charCodeAt(index) - 48) * weightOf(index)
  return sum
}
