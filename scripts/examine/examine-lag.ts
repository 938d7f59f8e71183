import type { Admin } from 'kafkajs'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import type { System } from './find-system.ts'
import { ok, problem, skipped, warning, type Finding } from './finding.ts'

/** Our groups. Temporary groups that read history for a run are excluded. */
const ours = /^(sink|scorer|notifier)(-|$)(?!replay-)/
/** Groups that wait for live jobs. */
const mayWait = new Set(['scorer-replay'])
const lateMs = 300_000
const ages = [
  { ms: 86_400_000, name: 'over a day' },
  { ms: 3_600_000, name: 'over an hour' },
  { ms: lateMs, name: 'over five minutes' },
]

/** How far behind the consumer groups are, in records and in time. */
export function examineLag({ kafka, config, now }: System): Promise<Finding[]> {
  const { TOPIC_PREFIX: prefix } = config
  return withAdmin(kafka, async (admin) => {
    const { groups } = await admin.listGroups()
    const ids = groups
      .map(({ groupId }) => groupId)
      .filter((id) => id.startsWith(prefix) && ours.test(id.slice(prefix.length)))
      .sort()
    if (ids.length === 0) return [skipped('lag', 'no service has ever consumed here')]
    const described = await admin.describeGroups(ids)
    const findings: Finding[] = []
    for (const { groupId, members } of described.groups)
      findings.push(
        ...(await examineGroup(admin, groupId, { prefix, members: members.length, nowMs: now() })),
      )
    return findings
  })
}

async function examineGroup(
  admin: Admin,
  groupId: string,
  { prefix, members, nowMs }: { prefix: string; members: number; nowMs: number },
): Promise<Finding[]> {
  const group = groupId.slice(prefix.length)
  const nobody =
    members > 0
      ? []
      : [
          problem(
            'lag',
            `${group} has no members: nobody does its work`,
            'docs/runbooks/SluiceServiceAbsent.md',
          ),
        ]
  const behind: string[] = []
  let isLate = false
  for (const { topic, partitions } of await admin.fetchOffsets({ groupId })) {
    const waiting = await waitingOf(admin, topic, partitions)
    if (waiting.length === 0) continue
    const age = await ageOf(admin, topic, waiting, nowMs)
    const records = waiting.reduce((sum, { count }) => sum + count, 0)
    behind.push(
      `${records} records of ${topic.slice(prefix.length)} wait${age === undefined ? '' : `, ${age}`}`,
    )
    isLate ||= age !== undefined
  }
  if (behind.length === 0) return [...nobody, ok('lag', `${group}: nothing waits, ${members} members`)]
  const what = `${group}: ${behind.join('; ')}`
  if (!isLate) return [...nobody, ok('lag', what)]
  return [
    ...nobody,
    mayWait.has(group)
      ? warning('lag', what, 'replays wait for live jobs: nothing to do unless it stays')
      : problem('lag', what, 'docs/runbooks/SluiceLag.md'),
  ]
}

interface Waiting {
  partition: number
  next: number
  count: number
}

/** Records after the group's committed offset. Retention may have moved the start; -1: nothing committed. */
async function waitingOf(
  admin: Admin,
  topic: string,
  committed: readonly { partition: number; offset: string }[],
): Promise<Waiting[]> {
  const ends = new Map((await admin.fetchTopicOffsets(topic)).map((end) => [end.partition, end]))
  return committed.flatMap(({ partition, offset }) => {
    const { low = '0', high = '0' } = ends.get(partition) ?? {}
    const next = Math.max(Number(offset), Number(low))
    const count = Number(high) - next
    return count > 0 ? [{ partition, next, count }] : []
  })
}

/** Approximate age of the oldest; undefined: recent. */
async function ageOf(
  admin: Admin,
  topic: string,
  waiting: readonly Waiting[],
  nowMs: number,
): Promise<string | undefined> {
  for (const { ms, name } of ages) {
    const first = new Map(
      (await admin.fetchTopicOffsetsByTimestamp(topic, nowMs - ms)).map(({ partition, offset }) => [
        partition,
        Number(offset),
      ]),
    )
    if (waiting.some(({ partition, next }) => (first.get(partition) ?? 0) > next)) return name
  }
  return undefined
}
