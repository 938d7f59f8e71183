import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, jest, test } from '@jest/globals'
import { appendAll, drainSpool, numbered, spoolKey, useSpools } from '#tests/support/spool-fixture.ts'
import { until } from '#tests/support/until.ts'
import { encodeFrames, segmentHeader } from './segment-format.ts'
import { segmentName } from './segment.ts'

// Takes over 10 s beside five other test processes on two cores.
jest.setTimeout(120_000)

const world = useSpools()

/** What a killed process leaves: an abandoned folder with segments. */
async function leftBehind(
  name: string,
  records: readonly string[],
  tail: Buffer = Buffer.alloc(0),
): Promise<string> {
  const folder = join(world.directory, `worker-${name}`)
  await rm(folder, { recursive: true, force: true })
  const other = await world.open({ name })
  await appendAll(other, ...records)
  await other.close()
  const [segment = ''] = (await readdir(folder)).filter((file) => file.endsWith('.segment'))
  await appendFile(join(folder, segment), tail)
  return join(folder, segment)
}

test('a note of what is sent that was torn costs a resend, and no record', async () => {
  for (const length of [0, 1, 2]) {
    const first = await world.open()
    for (const record of numbered(20)) await appendAll(first, record)
    const batch = await first.take(5, 1024 * 1024)
    if (batch !== undefined) await first.acknowledge(batch)
    await first.close()
    const [note = ''] = (await readdir(world.directory, { recursive: true })).filter((file) =>
      file.endsWith('.sent'),
    )
    const text = await readFile(join(world.directory, note), 'latin1')
    expect(text).toHaveLength(3)
    await writeFile(join(world.directory, note), text.slice(0, length))
    const next = await world.open()
    const seen = await drainSpool(next)
    expect(seen.slice(-15)).toEqual(numbered(20).slice(5))
    expect(world.lost).toEqual([])
    await next.close()
  }
})

test('a batch that is given up holds up no other: segments take turns, and none loses its place', async () => {
  await leftBehind('dead', ['stubborn'])
  await leftBehind('dead as well', ['stubborn too'])
  const spool = await world.open()
  await appendAll(spool, 'a', 'b')
  const next = async () => (await spool.take(100, 1024 * 1024))?.records.map(String)
  const [first, second] = [await next(), await next()]
  expect([first, second].flat().sort()).toEqual(['stubborn', 'stubborn too'])
  expect([await next(), await next(), await next()]).toEqual([['a', 'b'], first, second])
  expect(await drainSpool(spool)).toEqual(['a', 'b', ...(first ?? []), ...(second ?? [])])
  await spool.close()
})

test.each<[string, number | undefined, string[]]>([
  ['others are sent, all of them', undefined, ['stubborn', 'a', 'b', 'stubborn']],
  ['and it has its turn', 10, ['stubborn', 'a', 'stubborn', 'b']],
])('after a batch that was given up %s', async (_name, tickMs, expected) => {
  await leftBehind('dead', ['stubborn'])
  const spool = await world.open(tickMs === undefined ? {} : { tickMs })
  for (const record of ['a', 'b']) await appendAll(spool, record)
  const seen: string[] = []
  while (seen.length < expected.length) {
    const batch = await spool.take(1, 1024 * 1024)
    const [record = ''] = batch?.records.map(String) ?? []
    seen.push(record)
    if (batch !== undefined && record !== 'stubborn') await spool.acknowledge(batch)
    if (tickMs !== undefined && record === 'a') await until(() => spool.isDue())
  }
  expect(seen).toEqual(expected)
  await spool.close()
})

describe('what a killed process leaves', () => {
  const frame = encodeFrames([Buffer.from('torn')], spoolKey)
  test.each<[string, Buffer]>([
    ['whole', Buffer.alloc(0)],
    ['with a torn frame', frame.subarray(0, frame.length - 3)],
    ['with a torn length', frame.subarray(0, 2)],
  ])('%s', async (_name, tail) => {
    await leftBehind('dead', numbered(10), tail)
    const spool = await world.open()
    expect(await drainSpool(spool)).toEqual(numbered(10))
    expect(world.lost).toEqual([])
    await spool.close()
  })

  test('cut at any byte: the whole frames before the cut', async () => {
    const whole = Buffer.concat([
      segmentHeader(),
      ...numbered(3).map((record) => encodeFrames([Buffer.from(record)], spoolKey)),
    ])
    const frameLength = (whole.length - 8) / 3
    for (let cut = 0; cut <= whole.length; cut++) {
      const path = await leftBehind(`cut${cut}`, ['x'])
      await writeFile(path, whole.subarray(0, cut))
      const spool = await world.open()
      expect(await drainSpool(spool)).toEqual(
        numbered(3).slice(0, Math.max(0, Math.floor((cut - 8) / frameLength))),
      )
      await spool.close()
    }
  })

  test('damaged: what stands before the damage, and the loss is told', async () => {
    const path = await leftBehind('dead', numbered(9), encodeFrames([Buffer.from('9:')], spoolKey))
    const bytes = await readFile(path)
    bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 0xff
    await writeFile(path, bytes)
    const spool = await world.open()
    expect(await drainSpool(spool)).toEqual(numbered(9))
    expect(world.lost).toEqual([['damaged', 1]])
    await spool.close()
  })

  test('of another version: set aside, and said, until a gateway comes that can read it', async () => {
    const path = await leftBehind('dead', numbered(2))
    const bytes = await readFile(path)
    bytes[4] = 9
    await writeFile(path, bytes)
    const spool = await world.open()
    expect(await drainSpool(spool)).toEqual([])
    expect(spool.problem()).toBe('1 segments of another version lie in set-aside/')
    await spool.close()
    const [name = ''] = await readdir(join(world.directory, 'set-aside'))
    bytes[4] = 1
    await writeFile(join(world.directory, 'set-aside', name), bytes)
    const next = await world.open()
    expect(await drainSpool(next)).toEqual(numbered(2))
    expect(next.problem()).toBeNull()
    expect(world.lost).toEqual([])
    await next.close()
  })

  test('of another version, and sent in part: what was sent is not sent again', async () => {
    const path = await leftBehind('dead', ['x'])
    const frames = numbered(3).map((record) => encodeFrames([Buffer.from(record)], spoolKey))
    const bytes = Buffer.concat([segmentHeader(), ...frames])
    await writeFile(`${path}.sent`, String(8 + (frames[0]?.length ?? 0)))
    bytes[4] = 9
    await writeFile(path, bytes)
    const spool = await world.open()
    await spool.close()
    const folder = join(world.directory, 'set-aside')
    expect((await readdir(folder)).sort()).toEqual([basename(path), `${basename(path)}.sent`])
    bytes[4] = 1
    await writeFile(join(folder, basename(path)), bytes)
    const next = await world.open()
    expect(await drainSpool(next)).toEqual(numbered(3).slice(1))
    expect(await readdir(folder)).toEqual([])
    await next.close()
  })

  test('of another version, which the disk does not give at first: its note stays with it', async () => {
    const folder = join(world.directory, 'set-aside')
    const name = segmentName(Date.now(), 'x')
    const [sent, left] = ['sent', 'left'].map((record) => encodeFrames([Buffer.from(record)], spoolKey))
    const bytes = Buffer.concat([segmentHeader(), sent as Buffer, left as Buffer])
    await mkdir(folder)
    await writeFile(join(folder, name), bytes)
    await writeFile(join(folder, `${name}.sent`), String(8 + (sent as Buffer).length))
    // A file cannot replace a folder.
    await mkdir(join(world.directory, '.refused', name), { recursive: true })
    const refused = await world.open({ name: 'refused' })
    expect(refused.problem()).toMatch(/^folders of ended gateways cannot be adopted/)
    await refused.close()
    await rm(join(world.directory, 'worker-refused'), { recursive: true })
    const next = await world.open()
    expect(await drainSpool(next)).toEqual(['left'])
    await next.close()
  })

  test('of another version, while a gateway beside this one sets it aside: its note, which goes first, stays', async () => {
    const folder = join(world.directory, 'set-aside')
    await mkdir(folder)
    const note = `${segmentName(Date.now(), 'x')}.sent`
    await writeFile(join(folder, note), '8')
    const spool = await world.open()
    expect(await readdir(folder)).toEqual([note])
    await spool.close()
  })

  test('of no segment: it goes, and what is of one stays', async () => {
    const path = await leftBehind('dead', numbered(2))
    await writeFile(`${path}.sent`, '8')
    const gone = path.replace('.segment', 'gone.segment')
    await writeFile(`${gone}.sent`, '8')
    await writeFile(`${gone}.new`, segmentHeader())
    const spool = await world.open()
    const files = await readdir(world.directory, { recursive: true })
    expect(
      files
        .map((file) => basename(file))
        .filter((name) => name.includes('.segment'))
        .sort(),
    ).toEqual([basename(path), `${basename(path)}.sent`])
    expect(await drainSpool(spool)).toEqual(numbered(2))
    await spool.close()
  })

  test('after the start, once there is room for it', async () => {
    const spool = await world.open({ tickMs: 10, maxBytes: 1_000_000 })
    await appendAll(spool, ...numbered(7, 100_000))
    await leftBehind('dead', numbered(4, 100_000))
    await until(() => spool.isDue())
    expect((await spool.take(1, 1))?.records).toHaveLength(1)
    expect(spool.depth().records).toBe(7)
    const seen = await drainSpool(spool)
    await until(() => spool.isDue())
    seen.push(...(await drainSpool(spool)))
    const numbers = [...numbered(7), ...numbered(4)].sort()
    expect(seen.map((record) => record.replaceAll('x', '')).sort()).toEqual(numbers)
    expect(world.lost).toEqual([])
    await spool.close()
  })

  test('while it was adopting another: both', async () => {
    const path = await leftBehind('inner', ['inner'])
    const aside = join(world.directory, 'aside')
    await rename(join(path, '..'), aside)
    await leftBehind('outer', ['outer'])
    await rename(aside, join(world.directory, 'worker-outer', 'incoming-worker-inner'))
    const spool = await world.open()
    expect((await drainSpool(spool)).sort()).toEqual(['inner', 'outer'])
    await spool.close()
  })
})
