import { serveOrders } from './bench-process.ts'
import { startRedteamTarget } from './redteam-target.ts'

/**
 * A hardened target in its own process, which reports what it was asked. First argument: milliseconds until
 * it answers.
 */
const target = await startRedteamTarget({ manner: 'hardened', delayMs: Number(process.argv[2] ?? '0') })
serveOrders(target.url, () => ({
  asked: target.asked.length,
  twice: target.asked.length - new Set(target.asked).size,
  firstAskedAtMs: target.firstAskedAtMs(),
}))
