import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** As PEM. */
export interface TestCertificate {
  key: string
  cert: string
}

/** A self-signed certificate for 127.0.0.1 and `hosts`. Trusting `cert` trusts only its holder. */
export function makeCertificate(...hosts: string[]): TestCertificate {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-tls-'))
  const kind = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1'
  const alternative = ['IP:127.0.0.1', ...hosts.map((host) => `DNS:${host}`)].join(',')
  const names = ['-addext', `subjectAltName=${alternative}`, '-keyout', 'key.pem', '-out', 'cert.pem']
  try {
    execFileSync('openssl', ['req', ...kind.split(' '), ...names], { cwd: directory, stdio: 'pipe' })
    const read = (name: string) => readFileSync(join(directory, name), 'utf8')
    return { key: read('key.pem'), cert: read('cert.pem') }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
