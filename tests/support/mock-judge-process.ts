import { serveOrders } from './bench-process.ts'
import { startMockJudge } from './mock-judge.ts'

/** A judge in its own process. First argument: milliseconds until it answers. */
const judge = await startMockJudge(Number(process.argv[2] ?? '0'))
serveOrders(judge.url, () => judge.asked())
