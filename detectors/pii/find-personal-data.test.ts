import { describe, expect, test } from '@jest/globals'
import { findAddresses } from './find-addresses.ts'
import { findBirthDates } from './find-birth-dates.ts'
import { findIdentifiers } from './detect-pii.ts'
import { findNames } from './find-names.ts'

const spans = (text: string, found: readonly { start: number; end: number }[]) =>
  found.map(({ start, end }) => text.slice(start, end))

describe('street addresses', () => {
  test.each([
    ['English', 'at 14 Lime Walk in Leeds', '14 Lime Walk'],
    ['English with a flat', 'at 221b Mill Road, Apt. 3 now', '221b Mill Road, Apt. 3'],
    ['French', 'au 12 bis rue de la Forge', '12 bis rue de la Forge'],
    ['German', 'in der Ahornstraße 5a', 'Ahornstraße 5a'],
    ['German in two words', 'die Augsburger Straße 36', 'Augsburger Straße 36'],
    ['Danish', 'på Skovvej 13', 'Skovvej 13'],
    ['Spanish', 'en la calle del Olmo, nº 7', 'calle del Olmo, nº 7'],
    ['Italian', 'in Via dei Tigli 31', 'Via dei Tigli 31'],
    ['Portuguese', 'na Rua da Oliveira 16', 'Rua da Oliveira 16'],
    ['Polish', 'przy ul. Klonowej 61/4', 'ul. Klonowej 61/4'],
    ['Turkish', 'adres Ihlamur Sokak No: 12', 'Ihlamur Sokak No: 12'],
    ['Russian', 'на ул. Липовой, д. 5, кв. 12', 'ул. Липовой, д. 5, кв. 12'],
    ['Chinese', '家住南京市玄武区珠江路28号', '南京市玄武区珠江路28号'],
    ['Japanese', '住所は東京都中野区本町2-5-1', '東京都中野区本町2-5-1'],
    ['Korean', '주소: 서울특별시 종로구 율곡로 12', '서울특별시 종로구 율곡로 12'],
    ['Arabic', 'في شارع النخيل رقم 12', 'شارع النخيل رقم 12'],
    ['a box', 'write to P.O. Box 1044', 'P.O. Box 1044'],
    ['any form after its word', 'She lives at Dlouhá 12', 'Dlouhá 12'],
    ['small letters after its word', 'he lives at 12 lime walk', '12 lime walk'],
  ])('%s', (_language, text, address) => {
    expect(spans(text, findAddresses(text))).toEqual([address])
  })

  test.each([
    'The queries stay on API 29 in Version 4',
    'we moved the launch to 14 Jan and 5 minutes down the road',
    'chapter 12 Drive and 3 days',
    'about 3,500 Street Fighter players',
  ])('none in %s', (text) => {
    expect(findAddresses(text)).toEqual([])
  })
})

describe('dates of birth', () => {
  test.each([
    ['DOB: 03/05/1981', '03/05/1981'],
    ['geboren am 3. Mai 1981', '3. Mai 1981'],
    ['née le 3 mai 1981', '3 mai 1981'],
    ['fecha de nacimiento: 3 de mayo de 1981', '3 de mayo de 1981'],
    ['data urodzenia: 1981-05-03', '1981-05-03'],
    ['03.05.1981 doğumlu', '03.05.1981'],
    ['дата рождения 3 мая 1981', '3 мая 1981'],
    ['生年月日：1981年5月3日', '1981年5月3日'],
    ['생년월일 1981년 5월 3일', '1981년 5월 3일'],
    ['تاريخ الميلاد: 03/05/1981', '03/05/1981'],
  ])('%s', (text, date) => {
    expect(spans(text, findBirthDates(text))).toEqual([date])
  })

  test.each(['on 03/05/1981 it rained', 'born on 3 May 1799', 'date of birth (format, e.g. 1981-05-03)'])(
    'none in %s',
    (text) => {
      expect(findBirthDates(text)).toEqual([])
    },
  )
})

test.each([
  ['a given name and a surname', 'as Ingrid Halvorsen said', ['Ingrid Halvorsen']],
  ['a title', 'ask Mr. Quorn about it', ['Quorn']],
  ['initials and particles', 'by Pieter J. van der Meer', ['Pieter J. van der Meer']],
  ['Cyrillic', 'пришла Ольга Смирнова', ['Ольга Смирнова']],
  ['Chinese', '我叫顾晓岚，', ['顾晓岚']],
  ['Korean', '문도현님께', ['문도현']],
  ['no name', 'The Great Wall and New York', []],
])('names: %s', (_name, text, names) => {
  expect(spans(text, findNames(text))).toEqual(names)
})

describe('whose a datum is', () => {
  const kinds = (text: string) => findIdentifiers(text).map(({ kind }) => kind)

  test.each([
    'I live at 14 Lime Walk.',
    'Ingrid Halvorsen, 14 Lime Walk, Leeds',
    'Name: Ingrid\nAddress: 14 Lime Walk',
    'Please send the card to my new address, 14 Lime Walk',
    '{"first_name":"Ingrid","address1":"14 Lime Walk"}',
    'Wyślij to do pani Ingrid Halvorsen, ul. Klonowa 6',
  ])('an address of a person: %s', (text) => {
    expect(kinds(text)).toEqual(['street_address'])
  })

  test.each([
    'The bus stops at 14 Lime Walk.',
    'Our office is located at 14 Lime Walk, and I like it.',
    'The restaurant of Ingrid Halvorsen is at 14 Lime Walk',
    'My address for the test is 123 Main Street',
    'Send a card to Ingrid Halvorsen.',
  ])('none: %s', (text) => {
    expect(kinds(text)).toEqual([])
  })

  test.each([
    ['Our patient was born on 3 May 1981', ['birth_date']],
    ['The actress was born on 3 May 1981 in Oslo', []],
  ])('a birth: %s', (text, found) => {
    expect(kinds(text)).toEqual(found)
  })
})

test.each([
  ['call me on four one five, five five two, oh six seven one', 1],
  ['meine Nummer ist null eins sieben eins, drei drei acht, sechs vier', 1],
  ['Мой телефон: восемь девять один два, шесть четыре пять, семь', 1],
  ['我的电话是幺三八二四六七五九零一', 1],
  ['count with me: one two three four five six seven eight', 0],
  ['call the plumber, he has four or five vans', 0],
])('telephone numbers in words: %s', (text, count) => {
  expect(findIdentifiers(text).filter(({ kind }) => kind === 'phone_number')).toHaveLength(count)
})
