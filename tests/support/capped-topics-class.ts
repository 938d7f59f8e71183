/**
 * A topic policy as hosted Kafka has one, compiled for Java 17: a machine that runs Kafka may have no
 * compiler.
 *
 *   public class CappedTopics implements CreateTopicPolicy {
 *     public void configure(Map<String, ?> configs) {}
 *     public void close() {}
 *     public void validate(RequestMetadata asked) {
 *       String bytes = asked.configs().get("max.message.bytes");
 *       if (bytes != null && Long.parseLong(bytes) > 8388608L)
 *         throw new PolicyViolationException("max.message.bytes must be at most 8388608");
 *     }
 *   }
 */
export const cappedTopicsClass = Buffer.from(
  [
    'yv66vgAAAD0ANQoAAgADBwAEDAAFAAYBABBqYXZhL2xhbmcvT2JqZWN0AQAGPGluaXQ+AQADKClWCgAIAAkHAAoMAAsADAEA',
    'QG9yZy9hcGFjaGUva2Fma2Evc2VydmVyL3BvbGljeS9DcmVhdGVUb3BpY1BvbGljeSRSZXF1ZXN0TWV0YWRhdGEBAAdjb25m',
    'aWdzAQARKClMamF2YS91dGlsL01hcDsIAA4BABFtYXgubWVzc2FnZS5ieXRlcwsAEAARBwASDAATABQBAA1qYXZhL3V0aWwv',
    'TWFwAQADZ2V0AQAmKExqYXZhL2xhbmcvT2JqZWN0OylMamF2YS9sYW5nL09iamVjdDsHABYBABBqYXZhL2xhbmcvU3RyaW5n',
    'CgAYABkHABoMABsAHAEADmphdmEvbGFuZy9Mb25nAQAJcGFyc2VMb25nAQAVKExqYXZhL2xhbmcvU3RyaW5nOylKBQAAAAAA',
    'gAAABwAgAQA3b3JnL2FwYWNoZS9rYWZrYS9jb21tb24vZXJyb3JzL1BvbGljeVZpb2xhdGlvbkV4Y2VwdGlvbggAIgEAKW1h',
    'eC5tZXNzYWdlLmJ5dGVzIG11c3QgYmUgYXQgbW9zdCA4Mzg4NjA4CgAfACQMAAUAJQEAFShMamF2YS9sYW5nL1N0cmluZzsp',
    'VgcAJwEADENhcHBlZFRvcGljcwcAKQEAMG9yZy9hcGFjaGUva2Fma2Evc2VydmVyL3BvbGljeS9DcmVhdGVUb3BpY1BvbGlj',
    'eQEABENvZGUBAAljb25maWd1cmUBABIoTGphdmEvdXRpbC9NYXA7KVYBAAlTaWduYXR1cmUBACcoTGphdmEvdXRpbC9NYXA8',
    'TGphdmEvbGFuZy9TdHJpbmc7Kj47KVYBAAVjbG9zZQEACHZhbGlkYXRlAQBFKExvcmcvYXBhY2hlL2thZmthL3NlcnZlci9w',
    'b2xpY3kvQ3JlYXRlVG9waWNQb2xpY3kkUmVxdWVzdE1ldGFkYXRhOylWAQANU3RhY2tNYXBUYWJsZQEADElubmVyQ2xhc3Nl',
    'cwEAD1JlcXVlc3RNZXRhZGF0YQAhACYAAgABACgAAAAEAAEABQAGAAEAKgAAABEAAQABAAAABSq3AAGxAAAAAAABACsALAAC',
    'ACoAAAANAAAAAgAAAAGxAAAAAAAtAAAAAgAuAAEALwAGAAEAKgAAAA0AAAABAAAAAbEAAAAAAAEAMAAxAAEAKgAAAEMABAAD',
    'AAAAKSu2AAcSDbkADwIAwAAVTSzGABgsuAAXFAAdlJ4ADbsAH1kSIbcAI7+xAAAAAQAyAAAACAAB/AAoBwAVAAEAMwAAAAoA',
    'AQAIACgANAAJ',
  ].join(''),
  'base64',
)
