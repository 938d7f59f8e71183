import { describe, expect, test } from '@jest/globals'
import { unitsReadTooOften } from '#tests/support/read-characters.ts'
import { findIdentifiers, maskIdentifier } from './detect-pii.ts'

const kinds = (text: string) =>
  findIdentifiers(text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`)

const keyLines = ['MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v', 'VpguoRK9JLsLMREScVpezJpGXA7r', 'AMcrn9g=']
const pem = (lines: readonly string[], separator: string) =>
  ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join(separator)
const privateKey = pem(keyLines, '\n')
const escapedKey = pem(keyLines, String.raw`\n`)
const quotedKey = pem(keyLines, '\\n" +\n  "')
const keyWithHeaders = pem(
  ['Proc-Type: 4,ENCRYPTED', 'Comment: v2.0 (of mine)', '', ...keyLines],
  '\r\n',
).replaceAll(' PRIVATE', ' RSA PRIVATE')
const webhook = `https://hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/${'x9Y8'.repeat(6)}`
const token = `eyJ${'hbGciOiJI'.repeat(5)}.eyJ${'zdWIiOiIx'.repeat(8)}.${'Sfl-KxwR'.repeat(5)}`

describe('identifiers that are found', () => {
  test.each([
    ['card', 'pay with 4111 1111 1111 1111 now', 'payment_card 4111 1111 1111 1111'],
    ['IBAN', 'from GB82WEST12345698765432 to you', 'iban GB82WEST12345698765432'],
    ['IBAN as printed', 'DE89 3704 0044 0532 0130 00', 'iban DE89 3704 0044 0532 0130 00'],
    ['e-mail', 'write to jane.doe+x@mail.acme.io.', 'email_address jane.doe+x@mail.acme.io'],
    ['e-mail in another script', 'пиши на иван@почта.рф', 'email_address иван@почта.рф'],
    ['phone, international', 'me: +44 (0)20 7946 0958', 'phone_number +44 (0)20 7946 0958'],
    ['phone, by its word', 'call me on 9472 7916', 'phone_number 9472 7916'],
    ['phone, by its form', '(415) 555-2671 or so', 'phone_number (415) 555-2671'],
    ['US social security number', 'it is 536-22-8726', 'national_id 536-22-8726'],
    ['UK national insurance', 'NINO AB 12 34 56 C', 'national_id AB 12 34 56 C'],
    ['Brazilian CPF', '529.982.247-25', 'national_id 529.982.247-25'],
    ['Spanish DNI', 'DNI 12345678Z', 'national_id 12345678Z'],
    ['Italian codice fiscale', 'RSSMRA85T10A562S', 'national_id RSSMRA85T10A562S'],
    ['French NIR', '2 55 08 14 168 025 38', 'national_id 2 55 08 14 168 025 38'],
    ['Chinese resident number', '11010519491231002X', 'national_id 11010519491231002X'],
    ['German tax number, by its word', 'Steuer-ID: 86 095 742 719', 'national_id 86 095 742 719'],
    ['Indian Aadhaar, by its word', 'Aadhaar 2341 2341 2346', 'national_id 2341 2341 2346'],
    ['Mexican CURP', 'CURP HEGG560427MVZRRL04', 'national_id HEGG560427MVZRRL04'],
    ['Japanese My Number, by its word', 'マイナンバー 1234 5678 9018', 'national_id 1234 5678 9018'],
    ['South Korean resident number', '820701-2409181', 'national_id 820701-2409181'],
    ['Russian SNILS', 'СНИЛС 112-233-445 95', 'national_id 112-233-445 95'],
    ['Turkish identity number, by its word', 'TCKN: 10000000146', 'national_id 10000000146'],
    ['South African identity number', 'ID number 8001015009087', 'national_id 8001015009087'],
    ['Australian tax file number', 'TFN 123 456 782', 'national_id 123 456 782'],
    ['Pakistani CNIC, by its word', 'CNIC 42101-1234567-1', 'national_id 42101-1234567-1'],
    ['Swiss AHV number', 'AHV 756.9217.0769.85', 'national_id 756.9217.0769.85'],
    ['Swedish number, by its word', 'personnummer 811228-9874', 'national_id 811228-9874'],
    ['a card of any issuer, by its word', 'my credit card 060426070011', 'payment_card 060426070011'],
    ['phone with an extension', 'Fax: 345-899-3560x4587', 'phone_number 345-899-3560x4587'],
    ['driver licence', "my driver's license number is U62928788557186", 'driver_licence U62928788557186'],
    ['public address', 'from 179.177.214.91:', 'ip_address 179.177.214.91'],
    ['IPv6', 'host 2a00:1450:4001:82a::200e up', 'ip_address 2a00:1450:4001:82a::200e'],
    ['AWS key', 'AKIAIOSFODNN7EXAMPLE', 'secret AKIAIOSFODNN7EXAMPLE'],
    ['GitHub token', `ghp_${'a1B2c3D4e5F6'.repeat(3)}`, `secret ghp_${'a1B2c3D4e5F6'.repeat(3)}`],
    ['a password', 'password: tR0ub4dor&3x9', 'secret tR0ub4dor&3x9'],
    ['a password in an environment', 'DB_PASSWORD=tR0ub4dor&3x9', 'secret tR0ub4dor&3x9'],
    ['a key in an environment', 'STRIPE_API_KEY=q8Zr2Lw0Vb7Nc5', 'secret q8Zr2Lw0Vb7Nc5'],
    ['a secret access key', 'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG', 'secret wJalrXUtnFEMI/K7MDENG'],
    ['a bearer token', 'Authorization: Bearer q8Zr2Lw0Vb7Nc5', 'secret q8Zr2Lw0Vb7Nc5'],
    [
      'card in full-width digits',
      'is ４１１１１１１１１１１１１１１１ ok',
      'payment_card ４１１１１１１１１１１１１１１１',
    ],
    ['card in Arabic digits', 'هي ٤١١١١١١١١١١١١١١١', 'payment_card ٤١١١١١١١١١١١١١١١'],
    [
      'card with unseen characters',
      'a 4111\u200b1111\u200b1111\u200b1111 b',
      'payment_card 4111\u200b1111\u200b1111\u200b1111',
    ],
    [
      'card with hard blanks',
      'a 4111\u00a01111\u00a01111\u00a01111 b',
      'payment_card 4111\u00a01111\u00a01111\u00a01111',
    ],
    [
      'key on a new line of JSON in a string',
      String.raw`{"a":"x\nsk-proj-aB3dE6gH9jK2mN5pQ8sT"}`,
      'secret sk-proj-aB3dE6gH9jK2mN5pQ8sT',
    ],
    [
      'e-mail with an escaped @',
      String.raw`{"a":"jane\u0040acme.io"}`,
      String.raw`email_address jane\u0040acme.io`,
    ],
    [
      'a password with a backslash',
      String.raw`password: tR0ub4dor\n9x7&q`,
      String.raw`secret tR0ub4dor\n9x7&q`,
    ],
    ['card with its check code behind it', '4111 1111 1111 1111 123', 'payment_card 4111 1111 1111 1111'],
    ['card behind a number', 'qty 2 4111 1111 1111 1111', 'payment_card 4111 1111 1111 1111'],
    ['card with two blanks', '4111  1111  1111  1111', 'payment_card 4111  1111  1111  1111'],
    ['card with dots', '4111.1111.1111.1111', 'payment_card 4111.1111.1111.1111'],
    ['card with long dashes', '4111–1111–1111–1111', 'payment_card 4111–1111–1111–1111'],
    ['IBAN as printed, in small letters', 'de89 3704 0044 0532 0130 00', 'iban de89 3704 0044 0532 0130 00'],
    ['phone in a URL', 'https://a.io/?phone=4156822671', 'phone_number 4156822671'],
    ['phone, by its word in German', 'Handy: 0171/5551234', 'phone_number 0171/5551234'],
    ['phone, by its word in Russian', 'мой телефон 8 912 3456789', 'phone_number 8 912 3456789'],
    ['e-mail in a URL', '?to=jane%40acme.io&a', 'email_address jane%40acme.io'],
    ['e-mail in HTML', 'a jane&#64;acme.io', 'email_address jane&#64;acme.io'],
    ['e-mail put in words', 'jane (at) acme (dot) io', 'email_address jane (at) acme (dot) io'],
    [
      'e-mail in base64',
      `see ${Buffer.from('write to jane.doe@acme.io').toString('base64')} ok`,
      `email_address ${Buffer.from('write to jane.doe@acme.io').toString('base64')}`,
    ],
    ['Belgian number', 'INSZ 85.07.30-033.28', 'national_id 85.07.30-033.28'],
    ['Finnish code', 'HETU 131052-308T', 'national_id 131052-308T'],
    ['Danish number', 'CPR 070761-4285', 'national_id 070761-4285'],
    ['Norwegian number', 'fnr: 150685 10160', 'national_id 150685 10160'],
    ['Portuguese number', 'NIF 123456789', 'national_id 123456789'],
    ['Irish number', 'PPSN: 1234567T', 'national_id 1234567T'],
    ['Czech number', 'rodné číslo 736028/5163', 'national_id 736028/5163'],
    ['Romanian number', 'CNP 1960620184011', 'national_id 1960620184011'],
    ['Bulgarian number', 'ЕГН 7523169263', 'national_id 7523169263'],
    ['Croatian number', 'OIB 94577403194', 'national_id 94577403194'],
    ['Estonian number', 'isikukood 37605030299', 'national_id 37605030299'],
    ['Chilean RUT', 'RUT 12.345.678-5', 'national_id 12.345.678-5'],
    ['Argentine CUIL', 'CUIL 20-12345678-6', 'national_id 20-12345678-6'],
    ['Singaporean NRIC', 'mine: S1234567D', 'national_id S1234567D'],
    ['Taiwanese number', '身分證字號 A123456789', 'national_id A123456789'],
    ['Thai number', 'บัตร 1-2345-67890-12-1', 'national_id 1-2345-67890-12-1'],
    ['Spanish number, by its name in a table', '| DNI nº | 12345678 |', 'national_id 12345678'],
    ['Colombian number', 'Cédula de ciudadanía No. 1012345678', 'national_id 1012345678'],
    ['Nigerian number', 'his NIN is 12345678901', 'national_id 12345678901'],
    ['Malaysian number', 'IC No: 820101-14-5678', 'national_id 820101-14-5678'],
    ['Mexican tax number', 'RFC: GODE561231GR8', 'national_id GODE561231GR8'],
    ['Austrian number', 'SVNR 1237 010180', 'national_id 1237 010180'],
    ['Russian tax number', 'ИНН 500100732259', 'national_id 500100732259'],
    ['Ukrainian tax number', 'РНОКПП 1234567899', 'national_id 1234567899'],
    ['Russian passport', 'Паспорт гражданина РФ: 4508 123456', 'passport 4508 123456'],
    ['Indian PAN', 'my PAN card ABCPE1234F', 'national_id ABCPE1234F'],
    ['a password in another language', 'Passwort: tR0ub4dor&3x9', 'secret tR0ub4dor&3x9'],
    ['a password in Chinese', '密码：tR0ub4dor&3x9', 'secret tR0ub4dor&3x9'],
    ['a password of a command', 'login --password tR0ub4dor&3x9', 'secret tR0ub4dor&3x9'],
    ['a name and a password in a URL', 'https://bob:tR0ub4dor9@a.io/', 'secret https://bob:tR0ub4dor9@'],
    ['a webhook', `${webhook} ok`, `secret ${webhook}`],
    ['private key', `my ${privateKey} here`, `secret ${privateKey}`],
    ['private key in JSON', `{"k":"${escapedKey}"}`, `secret ${escapedKey}`],
    ['private key in source text', `k = "${quotedKey}";`, `secret ${quotedKey}`],
    ['private key with headers', keyWithHeaders, `secret ${keyWithHeaders}`],
    ['beginning of a private key', privateKey.slice(0, 60), `secret ${privateKey.slice(0, 60)}`],
    ['end of a private key', `at.${privateKey.slice(40)} ok`, `secret ${privateKey.slice(40)}`],
    ['signed token', `Cookie: ${token}; a=b`, `secret ${token}`],
    ['signed token cut off', token.slice(0, 80), `secret ${token.slice(0, 80)}`],
  ])('%s', (_name, text, found) => {
    expect(kinds(text)).toEqual([found])
  })
})

describe('what only looks like one', () => {
  test.each([
    ['a card that fails its checksum', '4111 1111 1111 1112'],
    ['an order number', 'order 1234567890123456'],
    ['a number of an unknown issuer that nothing calls a card', 'order 060426070011'],
    ['a South Korean number that fails its checksum', '820701-2409185'],
    ['an IBAN that fails its checksum', 'GB82WEST12345698765433'],
    ['documentation addresses', 'user@example.com, no-reply@acme.io'],
    ['private and loopback addresses', '10.0.0.1, 127.0.0.1, 192.168.1.1, ::1'],
    ['a version', 'version 1.2.3.4 of it'],
    ['dates and times', 'on 2024-05-06 and 12/31/1999 at 12:30:45'],
    ['a countdown', '3... 2... 1... liftoff!'],
    ['an address', 'at 704 1436 Redbud Drive, Quinta 3610-114'],
    ['amounts', '$1,234,567.89 or 12345678 euros'],
    ['a word about private keys', 'It ends with -----END PRIVATE KEY-----, always.'],
    ['JSON in base64', 'next page: eyJwYWdlIjoyLCJzaXplIjo1MH0'],
    ['a header without a token', 'Authorization: Bearer YOUR_TOKEN_HERE, DB_PASSWORD=changeme'],
    ['a UUID', '123e4567-e89b-12d3-a456-426614174000'],
    ['a placeholder password', 'password: <your-password>, api_key=YOUR_API_KEY_HERE'],
    [
      'a number that its name says to be something else',
      'trace_id=4539578763621486, "id": "4539578763621486"',
    ],
    ['a number to try payments with', 'use the test card 4242 4242 4242 4242'],
    ['a UUID of digits', '24860755-3582-4867-8383-805074398953'],
    ['digests', 'de89370400440532013000aabbccddee and ab12cd34ef567890ab12cd34ef567890'],
    ['counts', 'number of rows: 12345678, line 1002334, call 1234567 took 12ms, reach 10000000 users'],
    ['numbers in rows', '10 12 14 16\n20 22 24 26'],
    ['a film number', 'call (555) 555-0123'],
    ['versions', 'Python==3.11.4.2, a/app:8.11.4.2, lib-3.44.2.1.jar, AssemblyVersion("5.12.31.90")'],
    ['resolvers', 'nameserver 8.8.8.8'],
    ['files and packages', 'logo@2x.png, left-pad@1.2.3.tgz, root@localhost.localdomain, a@yourdomain.com'],
    [
      'where code has its secrets from',
      'password: process.env.PASSWORD1, api_key: settings.API_KEY2, pwd=$PASSWORD_1',
    ],
    [
      'made-up credentials',
      'postgres://user:password@localhost, sk-xxxxxxxxxxxxxxxxxxxxxxxx, sk-learn-contrib-v2-b',
    ],
    [
      'what has the name of an identity number near it',
      'DNI version 1234567, dni build 20240115, The NIN band sold 12345678901 records. CPR training, invoice 0102031234; cédula order 12345678',
    ],
    ['what has its name and not its form', 'RFC ABCD123456XYZ, RFC 2616 and ABCD901231XYZ, CPR 9913051234'],
    ["a firm's tax number", 'ИНН 7707083893'],
    ['a US area that is never given', '000-12-3456 and 900-12-3456'],
  ])('%s is left alone', (_name, text) => {
    expect(kinds(text)).toEqual([])
  })
})

test.each([
  ['email_address', 'jane@acme.io', 'j•••@acme.io'],
  ['payment_card', '4111 1111 1111 1234', '•••1234'],
  ['phone_number', '555-2671', '•••71'],
  ['secret', 'AKIAIOSFODNN7EXAMPLE', 'AKIA•••'],
  ['secret', 'harbour42', '•••'],
] as const)('a masked %s', (kind, value, masked) => {
  expect(maskIdentifier(kind, value)).toBe(masked)
})

test('hostile text is read in proportion to its length', () => {
  const units = ['1', '1 ', 'a.', 'a@', 'AB12 ', '1.1.1.', ':', 'eyJa.', 'password=', '(1', '0-']
  expect(unitsReadTooOften(units, 24_000, (text) => findIdentifiers(text))).toEqual([])
})
