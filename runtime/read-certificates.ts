import { createPrivateKey, X509Certificate } from 'node:crypto'

const begin = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/g
const certificate = /-----BEGIN ((?:TRUSTED |X509 )?CERTIFICATE)-----[\s\S]+?-----END \1-----/g

/** The certificates of a PEM text in order. Throws for an unreadable one. */
export function readCertificates(pem: string): X509Certificate[] {
  return (pem.match(certificate) ?? []).map((text) => new X509Certificate(text))
}

/**
 * Whether there is one and all are readable. TLS silently skips an unreadable one and then reports an
 * untrusted server.
 */
export function areCertificates(pem: string): boolean {
  const begun = pem.match(begin)?.length ?? 0
  return begun > 0 && succeeds(() => readCertificates(pem).length === begun)
}

export function isPrivateKey(pem: string): boolean {
  return succeeds(() => createPrivateKey(pem).type === 'private')
}

/** The first of a client's certificates is its own. */
export function isKeyOf(key: string, certificates: string): boolean {
  return succeeds(() => readCertificates(certificates)[0]?.checkPrivateKey(createPrivateKey(key)) === true)
}

/** Readers throw different errors for what is not PEM. */
function succeeds(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}
