import { expect, test } from '@jest/globals'
import { findIdentifiers } from './detect-pii.ts'

const found = (text: string) => findIdentifiers(text).map(({ start, end }) => text.slice(start, end))
const hexadecimal = '4be1c09a7d35f2861e0b9c47ad5830f6'
const hook = `https://acme.webhook.office.com/webhookb2/${hexadecimal}@${hexadecimal}/IncomingWebhook/${hexadecimal}/1a2b`

test.each([
  ['sshpass', 'sshpass -p walnut-crow ssh root@10.0.0.4', 'walnut-crow'],
  ['mysql', 'mysql -h db -u app -pWalnut58crow shop', 'Walnut58crow'],
  ['mysqldump, quoted', `mysqldump -u root -p'Walnut!58crow' x`, 'Walnut!58crow'],
  ['curl', 'curl -s -u deploy:Walnut58crow https://ci.corp/api', 'Walnut58crow'],
  ['docker', 'docker login -u ci -p Walnut58crow registry.corp', 'Walnut58crow'],
  ['ldapsearch', 'ldapsearch -x -D cn=admin -w Walnut58crow', 'Walnut58crow'],
  ['.netrc', 'machine ftp.corp.net\n  login mia\n  password walnutcrow', 'walnutcrow'],
  ['.pgpass', 'db7:5432:shop:app:Walnut58crow', 'Walnut58crow'],
  ['redis.conf', 'requirepass Walnut58crow', 'Walnut58crow'],
  ['YAML', 'cache:\n  auth: "Walnut58crow"', 'Walnut58crow'],
  ['SQL', `CREATE USER app IDENTIFIED BY 'Walnut58crow'`, 'Walnut58crow'],
  ['PowerShell', `ConvertTo-SecureString "Walnut58crow" -AsPlainText`, 'Walnut58crow'],
  ['openssl', 'openssl rsa -in k.pem -passin pass:Walnut58crow', 'Walnut58crow'],
  ['an environment', 'export PGPASSWORD=walnut58', 'walnut58'],
  ['a key in an environment', `SEARCH_SERVICE_KEY=${hexadecimal}`, hexadecimal],
  ['a key in settings', `monitoring_app_key = "${hexadecimal}"`, hexadecimal],
  ['a subscription key', `Ocp-Apim-Subscription-Key: ${hexadecimal}`, hexadecimal],
  ['a header of one product', `X-Vault-Token: ${hexadecimal}`, hexadecimal],
  ['a webhook of a chat', hook, hook],
])('a secret in %s', (_place, text, value) => {
  expect(found(text)).toEqual([value])
})

test.each([
  'mysql -u root -p shop',
  'mkdir -p build2/out && docker run -p 8080:80 nginx',
  'sshpass -p "$PASSWORD1" ssh host; sshpass -p <password> ssh host',
  'curl -u user:password https://a.example',
  'export PGPASSWORD=$DB_PASSWORD2; export TOKEN_COUNT=12345678',
  `CACHE_KEY=${hexadecimal} PUBLIC_KEY=${hexadecimal} idempotency-key: ${hexadecimal}`,
  'primary_key = "user_account_identifier_2024"',
  'API_TOKEN=your-token-goes-here-12345678',
  'localhost:5432:accounts:reader:secret',
  'postgres://{user}:{pass}@db, https://[name]:[pass]@host, http://foo:bar@host',
])('no secret in %s', (text) => {
  expect(found(text)).toEqual([])
})
