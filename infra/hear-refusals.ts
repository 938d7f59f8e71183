import { createRequire } from 'node:module'
import { typeOfError } from '#runtime/kafka/protocol-errors.ts'

/** What a broker says of a topic that it does not make or change. */
export interface Refusal {
  topic: string
  /** The protocol's name of the error, for instance `POLICY_VIOLATION`. */
  type: string
  /** In the broker's words; empty when it has none. */
  said: string
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
let hears = false

/**
 * What the brokers said when this error was thrown; empty: it is no refusal. kafkajs has to hear them, see
 * below.
 */
export function refusalsOf(error: unknown): readonly Refusal[] {
  return Error.isError(error) ? (refusals.get(error) ?? []) : []
}

/** kafkajs reads why a broker refuses a topic and throws without it: it is kept beside the error here. */
export function hearRefusals(): void {
  if (hears) return
  hears = true
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
      said: errorMessage ?? '',
    }))
}
