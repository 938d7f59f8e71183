import { shapeOfPath } from '../../capture/call-shapes.ts'
import { providerOfUpstream } from '../../capture/providers.ts'

/** A call of a model, told by where it goes. */
export interface ModelCall {
  /** In the path of Google's calls; elsewhere the body names it. */
  model: string | undefined
  provider: string | undefined
}

/** Google: `/v1beta/models/gemini-x:generateContent`. */
const googleCall = /\/models\/([^/:]+):(?:generateContent|streamGenerateContent)$/

/** What a POST to `url` is; undefined for what is no call of a model (files, lists of models, …): that is not recorded. */
export function modelCallOf(url: string): ModelCall | undefined {
  if (!URL.canParse(url)) return undefined
  const { hostname, pathname } = new URL(url)
  const google = googleCall.exec(pathname)
  const isCall = google !== null || shapeOfPath(pathname) !== null || /\/v[12]\/chat$/.test(pathname)
  if (!isCall) return undefined
  return {
    model: google?.[1] === undefined ? undefined : decodeURIComponent(google[1]),
    provider: providerOfUpstream(hostname, pathname) ?? undefined,
  }
}
