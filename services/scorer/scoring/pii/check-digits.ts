/** Checksums of identifiers. Each takes digits (and letters where its scheme has them) without separators. */

export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48
    const doubled = digit * 2
    sum += index % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** ISO 7064 mod 97-10 as an IBAN uses it. */
export function passesIban(iban: string): boolean {
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
  return (
    '10X98765432'.charAt(weighted(text.slice(0, 17), (index) => weights[index] ?? 0) % 11) === text.charAt(17)
  )
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
  return weighted(digits, (index) => weights[index] ?? 0) % 10 === 0
}

/** The Netherlands' BSN: the eleven test. */
export function passesBsn(digits: string): boolean {
  return weighted(digits, (index) => (index === 8 ? -1 : 9 - index)) % 11 === 0 && !/^0+$/.test(digits)
}

/** The United Kingdom's NHS number: mod 11. */
export function passesNhs(digits: string): boolean {
  const check = 11 - (weighted(digits.slice(0, 9), (index) => 10 - index) % 11)
  return (check === 11 ? 0 : check) === Number(digits.charAt(9))
}

function weighted(digits: string, weightOf: (index: number) => number): number {
  let sum = 0
  for (let index = 0; index < digits.length; index++) sum += (digits.charCodeAt(index) - 48) * weightOf(index)
  return sum
}
