/**
 * The partition of a keyed record by murmur2, as in the Java client: other producers' records of a key join
 * ours.
 */
export function partitionForKey(key: string, partitions: number): number {
  return partitionOfHash(murmur2(Buffer.from(key)), partitions)
}

export function partitionOfHash(hash: number, partitions: number): number {
  return (hash & 0x7fff_ffff) % partitions
}

const multiplier = 0x5bd1_e995
const seed = 0x9747_b28c

/** MurmurHash2, 32 bits, with Kafka's seed. Returns a signed integer. */
export function murmur2(bytes: Buffer): number {
  let hash = seed ^ bytes.length
  const whole = bytes.length & ~3
  for (let at = 0; at < whole; at += 4) {
    let word = Math.imul(bytes.readInt32LE(at), multiplier)
    word ^= word >>> 24
    hash = Math.imul(hash, multiplier) ^ Math.imul(word, multiplier)
  }
  const rest = bytes.length - whole
  if (rest > 0) hash = Math.imul(hash ^ bytes.readUIntLE(whole, rest), multiplier)
  hash ^= hash >>> 13
  hash = Math.imul(hash, multiplier)
  return hash ^ (hash >>> 15)
}
