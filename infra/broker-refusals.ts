import { createRequire } from 'node:module'
import { typeOfError } from '#runtime/kafka/protocol-errors.ts'

/** Why a broker refused to create or change a topic. */
export interface Refusal {
  topic: string
  /** The protocol's name of the error, for instance `POLICY_VIOLATION`. */
  type: string
  /** The broker's message; may be empty. */
  message: string
}

interface Entry {
  topic?: string
  resourceName?: string
  errorCode: number
  errorMessage: string | null
}
interface Answer {
  topicErrors?: Entry[]
  resources?: Entry[]
}
interface Response {
  parse: (answer: Answer) => Promise<unknown>
}

const responses = [
  'createTopics/v1/response.js',
  'createTopics/v2/response.js',
  'createTopics/v3/response.js',
  'createPartitions/v0/response.js',
  'createPartitions/v1/response.js',
  'alterConfigs/v0/response.js',
  'alterConfigs/v1/response.js',
]
const refusals = new WeakMap<Error, readonly Refusal[]>()
let isPatched = false

/** The brokers' refusals behind this error; empty if it is none. Needs the patch of kafkajs below. */
export function refusalsOf(error: unknown): readonly Refusal[] {
  return Error.isError(error) ? (refusals.get(error) ?? []) : []
}

/**
 * kafkajs reads why a broker refuses a topic and throws an error without it. This patch keeps the reason with
 * the error.
 */
export function captureRefusals(): void {
  if (isPatched) return
  isPatched = true
  const load = createRequire(import.meta.url)
  const { createErrorFromCode } = load('kafkajs/src/protocol/error.js') as {
    createErrorFromCode: (code: number) => Error
  }
  for (const file of responses) {
    const response = load(`kafkajs/src/protocol/requests/${file}`) as Response
    const { parse } = response
    response.parse = async (answer) => {
      try {
        return await parse(answer)
      } catch (error) {
        if (Error.isError(error)) refusals.set(error, refusedIn(answer, createErrorFromCode))
        throw error
      }
    }
  }
}

function refusedIn(
  { topicErrors = [], resources = [] }: Answer,
  errorOf: (code: number) => Error,
): Refusal[] {
  return [...topicErrors, ...resources]
    .filter(({ errorCode }) => errorCode !== 0)
    .map(({ topic, resourceName, errorCode, errorMessage }) => ({
      topic: topic ?? resourceName ?? '',
      type: typeOfError(errorOf(errorCode)) ?? String(errorCode),
      message: errorMessage ?? '',
    }))
}
