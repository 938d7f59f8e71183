import { findExpiries } from '#runtime/certificate-expiry.ts'
import type { System } from './find-system.ts'
import { ok, problem, warning, type Finding } from './finding.ts'

const soonMs = 14 * 86_400_000
const remedy = 'docs/runbooks/SluiceCertificateExpires.md'

/**
 * Whether certificates have expired or soon will: everything that uses them then fails at once. Brokers' own
 * certificates show in their connections.
 */
export function examineCertificates({ config, now }: System): Promise<Finding[]> {
  const findings = findExpiries(config).map(({ variable, ...found }) => {
    if ('problem' in found)
      return problem('certificates', `${variable} cannot be read: ${found.problem}`, remedy)
    const endsMs = found.ends * 1_000
    const at = new Date(endsMs).toISOString()
    if (endsMs <= now()) return problem('certificates', `one of ${variable} ended at ${at}`, remedy)
    const what = `the first of ${variable} ends at ${at}`
    return endsMs <= now() + soonMs ? warning('certificates', what, remedy) : ok('certificates', what)
  })
  return Promise.resolve(findings)
}
