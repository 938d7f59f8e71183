import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { codeOf } from '#runtime/errors.ts'
import { lastLines } from './await-ready.ts'
import { CannotStart, type Say } from './embedded-part.ts'
import { isMissingCommand, startGuarded } from './guarded-process.ts'

const run = promisify(execFile)

const KAFKA_VERSION = '4.1.1'
// Later 3.x versions need Java 21.
const REGISTRY_VERSION = '3.0.9'
const CONTENT = `kafka ${KAFKA_VERSION}, apicurio-registry ${REGISTRY_VERSION}, log4j-slf4j-impl 2.24.3\n`
const OLDEST_JAVA = 17

export interface Jars {
  /** Class path entry for every jar of the broker. */
  kafkaClassPath: string
  registryJar: string
  /** A file beside the jars, removed with them: so it always belongs to their version. */
  classArchive: (program: 'kafka' | 'registry') => string
}

/**
 * Downloads the broker and the registry from Maven Central into `cacheDirectory`, once. Concurrent processes
 * wait for the first. Throws {@link CannotStart} if Java or Maven is missing or the download fails.
 */
export async function fetchJars(cacheDirectory: string, say: Say): Promise<Jars> {
  await assertJava()
  const target = join(cacheDirectory, 'java')
  if (!(await isComplete(target))) {
    await mkdir(cacheDirectory, { recursive: true })
    await whileLocked(join(cacheDirectory, 'java.lock'), async () => {
      if (await isComplete(target)) return
      say(
        `fetching Kafka ${KAFKA_VERSION} and the Apicurio registry ${REGISTRY_VERSION} from Maven Central (150 MB, once)`,
      )
      await download(target)
    })
  }
  const runner = (await readdir(join(target, 'registry'))).find((file) => file.endsWith('-runner.jar'))
  if (runner === undefined) throw new CannotStart(`${target} is damaged: delete it and start again.`)
  return {
    kafkaClassPath: join(target, 'kafka', '*'),
    registryJar: join(target, 'registry', runner),
    classArchive: (program) => join(target, `${program}.jsa`),
  }
}

async function isComplete(target: string): Promise<boolean> {
  return (await readFile(join(target, 'versions'), 'utf8').catch(() => '')) === CONTENT
}

/** Downloads beside the target and moves the result into place at the end: it appears atomically. */
async function download(target: string): Promise<void> {
  const building = `${target}.${process.pid}`
  await rm(building, { recursive: true, force: true })
  await mkdir(join(building, 'registry'), { recursive: true })
  try {
    const pom = join(import.meta.dirname, 'pom.xml')
    const log = `${target}.log`
    await maven(
      log,
      '-f',
      pom,
      'dependency:copy-dependencies',
      '-DincludeScope=runtime',
      `-DoutputDirectory=${join(building, 'kafka')}`,
    )
    const artifact = `io.apicurio:apicurio-registry-app:${REGISTRY_VERSION}:tar.gz:all`
    await maven(log, '-f', pom, 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${building}`)
    const archive = join(building, `apicurio-registry-app-${REGISTRY_VERSION}-all.tar.gz`)
    await run('tar', ['-xzf', archive, '-C', join(building, 'registry')])
    await rm(archive)
    await writeFile(join(building, 'versions'), CONTENT)
    await rm(target, { recursive: true, force: true })
    await rename(building, target)
  } catch (error) {
    await rm(building, { recursive: true, force: true })
    throw error
  }
}

async function maven(logFile: string, ...args: string[]): Promise<void> {
  // Guarded, so that a download does not outlive its caller.
  const { exited } = await startGuarded({ command: 'mvn', args: ['-B', '-q', ...args], logFile }).catch(
    (error: unknown) => {
      if (!(error instanceof CannotStart)) throw error
      throw new CannotStart('Maven is missing: install it (Debian and Ubuntu: apt-get install maven).')
    },
  )
  const { code } = await exited
  if (code === 0) return
  const said = (await lastLines(logFile, 100)).filter((line) => line.includes('ERROR')).slice(0, 3)
  throw new CannotStart(
    `Maven could not fetch the Java packages; check the network, the disk and Maven's settings:\n${said.join('\n')}`,
  )
}

async function assertJava(): Promise<void> {
  const advice = `install it (Debian and Ubuntu: apt-get install openjdk-${OLDEST_JAVA}-jre-headless)`
  const said = await run('java', ['-version']).catch((error: unknown) => {
    if (isMissingCommand(error, 'java')) throw new CannotStart(`Java is missing: ${advice}.`)
    throw error
  })
  const major = Number(/version "(\d+)/.exec(said.stderr)?.[1] ?? Number.NaN)
  if (major < OLDEST_JAVA)
    throw new CannotStart(`Java ${major} is too old, ${OLDEST_JAVA} or newer is needed: ${advice}.`)
}

const ABANDONED_AFTER_MS = 10 * 60_000

/** Runs one process at a time, by a lock directory. Takes over the lock of a killed process. */
async function whileLocked(lock: string, work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await mkdir(lock)
      break
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
      if (await isAbandoned(lock)) await rm(lock, { recursive: true, force: true })
      else await delay(500)
    }
  }
  try {
    await writeFile(join(lock, 'pid'), String(process.pid))
    await work()
  } finally {
    await rm(lock, { recursive: true, force: true })
  }
}

async function isAbandoned(lock: string): Promise<boolean> {
  const made = await stat(lock).catch(whereMissing)
  if (made === undefined) return false // Its holder has finished: the next attempt to create it shows that.
  const pid = Number.parseInt((await readFile(join(lock, 'pid'), 'utf8').catch(whereMissing)) ?? '')
  if (Number.isNaN(pid)) return Date.now() - made.mtimeMs > ABANDONED_AFTER_MS
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}

/** Undefined if the file is missing; throws any other error. */
function whereMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}
