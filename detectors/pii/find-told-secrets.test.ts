import { describe, expect, test } from '@jest/globals'
import { findIdentifiers } from './detect-pii.ts'
import { hintsAtSecret } from './find-told-secrets.ts'

const found = (text: string) =>
  findIdentifiers(text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`)

describe('a password told in a sentence', () => {
  test.each([
    ['English', 'The staging password is Walnut!58-crow, please keep it', 'Walnut!58-crow'],
    ['English, weak', 'our router password is walnut58', 'walnut58'],
    ['English, beside its word', 'log in with the password Walnut!58-crow first', 'Walnut!58-crow'],
    ['English, quoted', 'the passphrase for the vault is "walnut58crow".', 'walnut58crow'],
    ['German', 'Das Kennwort vom Testserver lautet Walnuss58, danke', 'Walnuss58'],
    ['French', 'Le mot de passe du compte est Noisette58!', 'Noisette58'],
    ['Spanish', 'La contraseña del router es nogal58crow', 'nogal58crow'],
    ['Italian', 'la password del server è Noce!58corvo', 'Noce!58corvo'],
    ['Portuguese', 'A senha do banco é nogueira58', 'nogueira58'],
    ['Dutch', 'Het wachtwoord van de wifi is Walnoot58', 'Walnoot58'],
    ['Polish', 'Hasło do panelu to Orzech58!kruk', 'Orzech58!kruk'],
    ['Turkish', 'Modem şifresi: Ceviz58karga', 'Ceviz58karga'],
    ['Swedish', 'Lösenordet till servern är Valnot58', 'Valnot58'],
    ['Czech', 'Heslo k databázi je orech58vrana', 'orech58vrana'],
    ['Russian', 'Пароль от почты: Orekh58!vorona', 'Orekh58!vorona'],
    ['Chinese', '服务器密码是 Hetao!58-wuya，麻烦看一下', 'Hetao!58-wuya'],
    ['Japanese', '管理画面のパスワードは「Kurumi58!」です', 'Kurumi58'],
    ['Korean', '와이파이 비밀번호는 hodu58crow 입니다', 'hodu58crow'],
    ['Arabic', 'كلمة المرور هي Jawz58!ghurab', 'Jawz58!ghurab'],
    ['Indonesian', 'kata sandi wifi adalah kenari58', 'kenari58'],
    ['Vietnamese', 'Mật khẩu wifi là occho58qua', 'occho58qua'],
    ['a PIN', 'my card pin is 4821 now', '4821'],
    ['a door code', 'the gate code is 77340', '77340'],
  ])('%s', (_language, text, value) => {
    expect(found(text)).toEqual([`secret ${value}`])
  })

  test.each([
    'A password must have at least 8 characters.',
    'the password is hashed with bcrypt12 or argon2id',
    'Password: required, passwort: falsch',
    'the password is hunter2, as everybody knows; another password is password123',
    'the password for db2.internal is in the vault',
    'set the token to a 32-byte value; the api key is read from settings.API_KEY2',
    'mot de passe oublié ? Voir https://a.example/reset1',
    'Password policy v1.2 of 2024-05-06, ticket SEC-1234',
    'pass the value is x1',
  ])('what is only said of passwords: %s', (text) => {
    expect(found(text)).toEqual([])
  })

  test.each([
    ['the password is swordfish', true],
    ['das Passwort ist Schwertfisch', true],
    ['密码是 swordfish', true],
    ['the password is required', false],
    ['I forgot my password.', false],
  ])('what only a reader can tell from a word: %s', (text, isHint) => {
    expect(hintsAtSecret(text)).toBe(isHint)
  })
})
