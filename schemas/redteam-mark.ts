import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * On every red-team request. A gateway that finds it genuine does not record the call (docs/decisions/0062).
 */
export const redteamMarkHeader = 'x-service-redteam-mark'

/** For a request on its way, and for clocks that differ. */
const validMs = 5 * 60_000

/** The secret of marks, at least 16 characters: a mark can be attacked offline. */
export function redteamMarkSecret(config: {
  REDTEAM_MARK_SECRET?: string | undefined
  INTERNAL_API_SECRET?: string | undefined
}): string | undefined {
  return config.REDTEAM_MARK_SECRET ?? config.INTERNAL_API_SECRET
}

/** Says that the red team records one request with this body, now. No two marks are the same. */
export function makeRedteamMark(secret: string, body: string, nowMs: number): string {
  const head = `v1.${Math.floor(nowMs / 1_000)}.${randomBytes(12).toString('base64url')}`
  return `${head}.${macOf(secret, head, hash('sha256', body, 'hex'))}`
}

/**
 * Verifies a mark. `sha256` is of the received body, in hexadecimal; `arrivedMs` is when the request began.
 */
export function examineRedteamMark(
  mark: string,
  secret: string,
  { sha256, arrivedMs }: { sha256: string; arrivedMs: number },
): 'genuine' | 'forged' | 'expired' {
  const [, head = '', seconds = '', mac = ''] = /^(v1\.(\d{1,12})\.[\w-]{16})\.([\w-]{43})$/.exec(mark) ?? []
  // Compared as text: four spellings of the last digit decode to the same bytes, so a used mark would pass
  // three times more.
  if (!timingSafeEqual(Buffer.from(mac.padEnd(43)), Buffer.from(macOf(secret, head, sha256)))) return 'forged'
  return Math.abs(arrivedMs - Number(seconds) * 1_000) > validMs ? 'expired' : 'genuine'
}

function macOf(secret: string, head: string, sha256: string): string {
  return createHmac('sha256', secret).update(`sluice red team mark\n${head}\n${sha256}`).digest('base64url')
}
