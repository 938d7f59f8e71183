import { bodyBytesWithin } from '#schemas/record-limits.ts'

const mebibyte = 1024 * 1024

interface RecordLimits {
  CAPTURE_MAX_BYTES?: number | undefined
  KAFKA_MAX_RECORD_BYTES?: number | undefined
}

/** Maximum bytes of one body in a record. */
export function captureMaxBytes(config: RecordLimits): number {
  return config.CAPTURE_MAX_BYTES ?? maxBodyBytes(config)
}

/** Upper bound of that setting: a record holds two bodies. */
export function maxBodyBytes({ KAFKA_MAX_RECORD_BYTES = Infinity }: RecordLimits): number {
  return Math.min(4 * mebibyte, bodyBytesWithin(KAFKA_MAX_RECORD_BYTES))
}
