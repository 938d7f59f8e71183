import { createPrivateKey, X509Certificate } from 'node:crypto'

const begin = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/g
const certificate = /-----BEGIN ((?:TRUSTED |X509 )?CERTIFICATE)-----[\s\S]+?-----END \1-----/g

/** Those in a PEM text, in their order. Throws for one that cannot be read. */
export function readCertificates(pem: string): X509Certificate[] {
  return (pem.match(certificate) ?? []).map((text) => new X509Certificate(text))
}

/** That there is one, and that all can be read: TLS leaves out the others without a word, and says then that nobody vouches for a server. */
export function areCertificates(pem: string): boolean {
  const begun = pem.match(begin)?.length ?? 0
  return begun > 0 && succeeds(() => readCertificates(pem).length === begun)
}

export function isPrivateKey(pem: string): boolean {
  return succeeds(() => createPrivateKey(pem).type === 'private')
}

/** Of a client's certificates the first is its own. */
export function isKeyOf(key: string, certificates: string): boolean {
  return succeeds(() => readCertificates(certificates)[0]?.checkPrivateKey(createPrivateKey(key)) === true)
}

/** What is no PEM at all is thrown by whoever reads it, each time as something else. */
function succeeds(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}
