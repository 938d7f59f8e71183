import type { Server } from 'node:http'
import { answerBrokenRequests, rawAnswer, type BrokenRequest } from '#runtime/answer-broken-requests.ts'
import { Problem } from './problem.ts'

const problems: Readonly<Record<BrokenRequest, Problem>> = {
  headers: new Problem(431, 'HEADERS_TOO_LARGE', 'address and headers together are larger than 16 KiB'),
  slow: new Problem(408, 'REQUEST_TOO_SLOW', 'the request did not come in time'),
  malformed: new Problem(
    400,
    'BAD_REQUEST',
    'the request is not HTTP as it should be; what is not ASCII must be percent-encoded in an address',
  ),
}

/** Answers what never becomes a request in the words of all other errors. */
export function answerWithProblems(server: Server): void {
  answerBrokenRequests(server, ['request'], (fault) => {
    const problem = problems[fault]
    const body = JSON.stringify(problem.body())
    const headers = {
      'X-Content-Type-Options': 'nosniff',
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
    }
    return rawAnswer(problem.status, headers, body)
  })
}
