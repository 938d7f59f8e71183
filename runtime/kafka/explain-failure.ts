import { messageOf } from '../errors.ts'

/**
 * Errors of brokers and TLS name no setting. A broker that expects another protocol just closes the
 * connection.
 */
const settings: readonly (readonly [RegExp, string])[] = [
  [/Closed connection$/, 'so does a broker who expects TLS or a login (KAFKA_SSL, KAFKA_SASL_MECHANISM)'],
  [/before secure TLS connection was established/, 'so does a broker without TLS (KAFKA_SSL)'],
  [
    /alert (?:bad certificate|certificate|unknown ca)/,
    'the broker does not take KAFKA_SSL_CERT, or wants one',
  ],
]

/** The message of a failed connection, with the settings that may cause it. */
export function explainFailure(error: unknown): string {
  const message = messageOf(error).trim()
  const [, hint] = settings.find(([pattern]) => pattern.test(message)) ?? []
  return hint === undefined ? message : `${message} (${hint})`
}
