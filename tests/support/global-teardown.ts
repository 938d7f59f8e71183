import { Kafka, logLevel } from 'kafkajs'
import { Client } from 'pg'
import { quietQueues } from '#runtime/kafka/quiet-queues.ts'
import { takeRun, type TestRun } from './run-state.ts'

/** Fails the run if its tests left topics or databases, by name. Stops what the run started. */
async function globalTeardown(): Promise<void> {
  const run = takeRun()
  if (!run) return
  try {
    const left = [...(await leftTopics(run)), ...(await leftDatabases(run))]
    if (left.length > 0)
      throw new Error(`tests left behind what they created:\n${left.map((name) => `  ${name}\n`).join('')}`)
  } finally {
    await run.stop()
  }
}

async function leftTopics({ brokers, id }: TestRun): Promise<string[]> {
  quietQueues()
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    const topics = (await admin.listTopics()).filter((topic) => topic.includes(`-${id}-`))
    if (topics.length > 0) await admin.deleteTopics({ topics })
    return topics.map((topic) => `topic ${topic}`)
  } finally {
    await admin.disconnect()
  }
}

async function leftDatabases({ postgresUrl, id }: TestRun): Promise<string[]> {
  const client = new Client({ connectionString: postgresUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where position($1 in datname) > 0',
      [`-${id}-`],
    )
    for (const { name } of rows)
      await client.query(`drop database ${client.escapeIdentifier(name)} with (force)`)
    return rows.map(({ name }) => `database ${name}`)
  } finally {
    await client.end()
  }
}

export { globalTeardown as default }
