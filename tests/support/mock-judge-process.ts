import { serveOrders } from './bench-process.ts'
import { startMockJudge } from './mock-judge.ts'

/** A judge in a process of its own that takes as long as the first argument says, in milliseconds. */
const judge = await startMockJudge(Number(process.argv[2] ?? '0'))
serveOrders(judge.url, () => judge.asked())
