import type { RequestListener, Server, ServerResponse } from 'node:http'
import {
  ambiguityOf,
  answerBrokenRequests,
  rawAnswer,
  type BrokenRequest,
} from '#runtime/answer-broken-requests.ts'
import { Problem } from './problem.ts'

const problems: Readonly<Record<BrokenRequest, Problem>> = {
  headers: new Problem(431, 'HEADERS_TOO_LARGE', 'address and headers together are larger than 16 KiB'),
  slow: new Problem(408, 'REQUEST_TOO_SLOW', 'the request did not come in time'),
  malformed: new Problem(
    400,
    'BAD_REQUEST',
    'the request is not valid HTTP; characters beyond ASCII in an address must be percent-encoded',
  ),
}

const unmet = new Problem(417, 'EXPECTATION_UNKNOWN', 'Expect: only 100-continue is known here')

/** Answers malformed requests with the same JSON as every other error. */
export function answerWithProblems(server: Server): void {
  answerBrokenRequests(server, ['request'], (fault) => {
    const problem = problems[fault]
    const { headers, body } = answerOf(problem)
    return rawAnswer(problem.status, headers, body)
  })
  server.on('checkExpectation', (_request, response: ServerResponse) => answerWith(response, unmet))
}

/** Also replaces Node's check of the Host header, which answers without a body. */
export function refuseAmbiguous(handler: RequestListener): RequestListener {
  return (request, response) => {
    const ambiguity = ambiguityOf(request)
    if (ambiguity === undefined) handler(request, response)
    else answerWith(response, new Problem(400, 'BAD_REQUEST', ambiguity))
  }
}

function answerWith(response: ServerResponse, problem: Problem): void {
  const { headers, body } = answerOf(problem)
  response.writeHead(problem.status, { Connection: 'close', ...headers }).end(body)
}

function answerOf(problem: Problem) {
  const body = JSON.stringify(problem.body())
  const headers = {
    'X-Content-Type-Options': 'nosniff',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  }
  return { headers, body }
}
