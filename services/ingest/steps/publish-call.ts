import { outgoingCall, type CallContent } from '#capture/record/outgoing-call.ts'
import type { SignCall } from '#capture/search/search-signature.ts'
import { PermanentError, SluiceError } from '#runtime/errors.ts'
import type { Encoder, OutgoingRecord, Producer } from '#runtime/kafka/records.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { TraceContext } from '#runtime/tracing/tracing.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { Problem, unavailable } from '#http/problem.ts'

/** A topic for calls, with its encoder. */
export interface CallTopic {
  name: string
  encoder: Encoder<LoggedCall>
}

interface PublishDependencies {
  producer: Producer
  sealer: Sealer
  /** Makes search signatures. */
  sign: SignCall
  logged: CallTopic
  ephemeral: CallTopic
}

/**
 * Resolves when every in-sync replica has the call. Rejects with 503 when Kafka cannot take it, 413 when it
 * is too large, 422 when it can never be written.
 */
export type PublishCall = (call: LoggedCall, content: CallContent, trace?: TraceContext) => Promise<void>

export function createPublishCall(dependencies: PublishDependencies): PublishCall {
  const { producer, sealer, sign, logged, ephemeral } = dependencies
  const encodeFor = async (
    topic: CallTopic,
    call: LoggedCall,
    trace: TraceContext | undefined,
  ): Promise<OutgoingRecord> => ({
    topic: topic.name,
    key: call.id,
    value: await topic.encoder.encode(call),
    trace,
  })
  return async (call, content, trace) => {
    const { logged: kept, ephemeral: whole } = outgoingCall(
      call,
      content,
      (bytes, identity) => sealer.seal(bytes, identity),
      sign,
    )
    try {
      const records = [
        encodeFor(logged, kept, trace),
        ...(whole === null ? [] : [encodeFor(ephemeral, whole, trace)]),
      ]
      await producer.send(await Promise.all(records))
    } catch (error) {
      throw asProblem(error)
    }
  }
}

function asProblem(error: unknown): unknown {
  if (!(error instanceof SluiceError)) return error
  if (error instanceof PermanentError && error.code === 'RECORD_TOO_LARGE') {
    return new Problem(413, 'RECORD_TOO_LARGE', 'the record is too large for its topic', { cause: error })
  }
  if (error.retry === 'never') {
    // A fault of this record. As a 500 it would fail the whole batch, and its sender would retry for ever.
    return new Problem(422, error.code, 'the record cannot be written to its topic', { cause: error })
  }
  return unavailable(
    'QUEUE_UNAVAILABLE',
    'the call cannot be taken at the moment; send it again with the same id',
    error,
  )
}
