import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** On every request of a red team: a gateway that finds it genuine leaves the recording to whoever made it (docs/decisions/0062). */
export const redteamMarkHeader = 'x-service-redteam-mark'

/** For a request on its way, and for clocks that differ. */
const validMs = 5 * 60_000

/** What marks are made with, of 16 characters at least: whoever sees a mark can try secrets on it at leisure. */
export function redteamMarkSecret(config: {
  REDTEAM_MARK_SECRET?: string | undefined
  INTERNAL_API_SECRET?: string | undefined
}): string | undefined {
  return config.REDTEAM_MARK_SECRET ?? config.INTERNAL_API_SECRET
}

/** Says of one request with this body, now, that the red team records it. No two are the same. */
export function makeRedteamMark(secret: string, body: string, nowMs: number): string {
  const head = `v1.${Math.floor(nowMs / 1_000)}.${randomBytes(12).toString('base64url')}`
  return `${head}.${macOf(secret, head, hash('sha256', body, 'hex'))}`
}

/** What a mark turns out to be. `sha256` is of the body that came, in hexadecimal; `arrivedMs` when the request began. */
export function examineRedteamMark(
  mark: string,
  secret: string,
  { sha256, arrivedMs }: { sha256: string; arrivedMs: number },
): 'genuine' | 'forged' | 'expired' {
  const [, head = '', seconds = '', mac = ''] = /^(v1\.(\d{1,12})\.[\w-]{16})\.([\w-]{43})$/.exec(mark) ?? []
  // As text: four spellings of the last digit decode to the same bytes, and a mark that was used would be new three times more.
  if (!timingSafeEqual(Buffer.from(mac.padEnd(43)), Buffer.from(macOf(secret, head, sha256)))) return 'forged'
  return Math.abs(arrivedMs - Number(seconds) * 1_000) > validMs ? 'expired' : 'genuine'
}

function macOf(secret: string, head: string, sha256: string): string {
  return createHmac('sha256', secret).update(`sluice red team mark\n${head}\n${sha256}`).digest('base64url')
}
