import { fetchHelm } from '#infra/helm/fetch-helm.ts'
import { messageOf } from '#runtime/errors.ts'

/** Never fails: tests that need helm are skipped without it, and counted. */
try {
  console.log(`found ${await fetchHelm(process.env['PATH'])}`)
} catch (error) {
  console.error(messageOf(error))
}
