import { serveOrders } from './bench-process.ts'
import { startRedteamTarget } from './redteam-target.ts'

/** A hardened target in a process of its own that takes as long as the first argument says, in milliseconds; it tells what it was asked. */
const target = await startRedteamTarget({ manner: 'hardened', delayMs: Number(process.argv[2] ?? '0') })
serveOrders(target.url, () => ({
  asked: target.asked.length,
  twice: target.asked.length - new Set(target.asked).size,
  firstAskedAtMs: target.firstAskedAtMs(),
}))
