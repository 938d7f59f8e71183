import type { Admin, Kafka } from 'kafkajs'
import { SluiceError, TransientError } from '../errors.ts'
import { explainFailure } from './explain-failure.ts'

/**
 * Runs `work` with its own admin connection. An unclassified error becomes TransientError
 * (`KAFKA_UNAVAILABLE`).
 */
export async function withAdmin<T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    return await work(admin)
  } catch (error) {
    throw asUnavailable(error)
  } finally {
    await admin.disconnect()
  }
}

/** The same classification for errors of another client of the cluster. */
export function asUnavailable(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error
  return new TransientError('KAFKA_UNAVAILABLE', `Kafka: ${explainFailure(error)}`, { cause: error })
}
