import { createPrivateKey } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { makeCertificate } from '#tests/support/make-certificate.ts'
import { kafkaFields, parseConfig } from './config.ts'

const { cert, key } = makeCertificate()
const another = makeCertificate()
const cut = (pem: string) => pem.slice(0, pem.length / 2)
const onOneLine = (pem: string) => pem.replaceAll('\n', '\\n')
const sealed = createPrivateKey(key).export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-256-cbc',
  passphrase: 'hidden',
})
const [noCertificate, noKey] = ['expected whole certificates', 'expected a whole private key']

/** With TLS none of these would say so: a broker could not be verified, or would be waited for, for ever. */
test.each([
  ['a pair, and a bundle', {}, []],
  ['a client without a certificate', { KAFKA_SSL_CERT: '', KAFKA_SSL_KEY: '' }, []],
  ['an authority that is cut', { KAFKA_SSL_CA: cut(cert) }, [`KAFKA_SSL_CA: ${noCertificate}`]],
  [
    'one of a bundle that is',
    { KAFKA_SSL_CA: cert + cert.replace(/\nM.{20}/, '\nM') },
    [`KAFKA_SSL_CA: ${noCertificate}`],
  ],
  [
    'the last of a bundle that is',
    { KAFKA_SSL_CA: another.cert + cut(cert) },
    [`KAFKA_SSL_CA: ${noCertificate}`],
  ],
  [
    'the first of a bundle that is',
    { KAFKA_SSL_CA: cut(another.cert) + cert },
    [`KAFKA_SSL_CA: ${noCertificate}`],
  ],
  ['one with its lines in one', { KAFKA_SSL_CA: onOneLine(cert) }, [`KAFKA_SSL_CA: ${noCertificate}`]],
  ['a key in its place', { KAFKA_SSL_CA: key }, [`KAFKA_SSL_CA: ${noCertificate}`]],
  [
    'the key of another certificate',
    { KAFKA_SSL_KEY: another.key },
    ['KAFKA_SSL_KEY: is not the key of KAFKA_SSL_CERT'],
  ],
  ['a key with a passphrase', { KAFKA_SSL_KEY: String(sealed) }, [`KAFKA_SSL_KEY: ${noKey}`]],
  ['a key that is cut', { KAFKA_SSL_KEY: cut(key) }, [`KAFKA_SSL_KEY: ${noKey}`]],
  [
    'both in the place of the other',
    { KAFKA_SSL_CERT: key, KAFKA_SSL_KEY: cert },
    [`KAFKA_SSL_CERT: ${noCertificate}`, `KAFKA_SSL_KEY: ${noKey}`],
  ],
])('%s', (_name, changes, expected) => {
  const given = {
    KAFKA_SSL: 'true',
    KAFKA_SSL_CA: cert + another.cert,
    KAFKA_SSL_CERT: cert,
    KAFKA_SSL_KEY: key,
  }
  const parsed = parseConfig(z.object(kafkaFields), { KAFKA_BROKERS: 'a:1', ...given, ...changes })
  expect(parsed.ok ? [] : parsed.problems.map((problem) => problem.replace(/,.*/, ''))).toEqual(expected)
})
