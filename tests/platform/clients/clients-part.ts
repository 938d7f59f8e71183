import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modelCallAt } from '#capture/model-calls.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { topics } from '#schemas/topics.ts'
import { startApi, type RunningApi } from '../../support/start-api.ts'
import { proxyKey, startGateway } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'
import { runProgram } from '../engine/run-program.ts'
import { installPackages } from '../otel/install-javascript.ts'
import { CannotRun, type PlatformContext, type PlatformPart } from '../platform-part.ts'
import { startInfrastructure } from '../start-infrastructure.ts'
import { said, tokens } from './answers.ts'
import { codingAgentRuns, environmentOf, type CodingAgentRun } from './coding-agents.ts'
import { differencesOf } from './compare-exchange.ts'
import { differencesInRecord, type ExpectedLabels } from './compare-record.ts'
import { headerOf, type Exchange } from './exchange.ts'
import { expected, type ExpectedRecord } from './expected.ts'
import { startStandIn } from './start-stand-in.ts'
import { startTee } from './start-tee.ts'
import { upstreams, upstreamsFile } from './upstreams.ts'

/** What clients talk to, and what it kept. */
interface Bench {
  api: RunningApi
  url: string
  /** As the clients saw them, and as the stand-in did. */
  sent: Exchange[]
  got: Exchange[]
  directory: string
}

export const clientsPart: PlatformPart = {
  about: 'the official clients of providers, Claude Code, Codex, Gemini CLI and Copilot, through a gateway',
  async run(context) {
    const { cache, report, say, undo } = context
    const sources = await report.need('npm has the clients and the coding agents', async () => ({
      clients: await installClients(cache, say),
      agents: await installPackages(cache, say, join(import.meta.dirname, 'agents')),
    }))
    const bench = await report.need('a gateway and all behind it start', () => startBench(context))
    undo.push(() => bench.api.stop())
    for (const [client, conversations] of Object.entries(expected)) {
      const had = await report.need(`${client}: it starts`, () => haveAll(bench, sources.clients, client))
      for (const [name, wanted] of Object.entries(conversations))
        await report.check(`${client}, ${name}: bytes and record`, () =>
          checkConversation(bench, client, wanted, had.get(name)),
        )
    }
    for (const run of codingAgentRuns(bench.url, proxyKey))
      await report.check(`${run.title}: bytes and record`, () => checkAgent(bench, sources.agents, run))
    await report.check("the gateway's key came to no provider", () => checkKey(bench))
  },
}

async function installClients(cache: string, say: PlatformContext['say']): Promise<string> {
  const place = await installPackages(cache, say, join(import.meta.dirname, 'javascript'))
  const program = join(place, 'clients.js')
  await cp(join(import.meta.dirname, 'clients.js'), program)
  return program
}

async function startBench(context: PlatformContext): Promise<Bench> {
  const { undo } = context
  const directory = await mkdtemp(join(tmpdir(), 'sluice-clients-'))
  undo.push(() => rm(directory, { recursive: true, force: true }))
  await startInfrastructure(context, directory)
  const api = await startApi()
  const { key } = await api.createProject()
  const standIn = await startStandIn()
  undo.push(() => standIn.stop())
  const [keyFile, file] = [join(directory, 'key'), join(directory, 'upstreams.json')]
  await writeFile(keyFile, 'the-key-of-the-provider')
  await writeFile(file, upstreamsFile(standIn.url, keyFile))
  const gateway = await startGateway({
    UPSTREAMS_FILE: file,
    API_BACKEND_URL: api.baseUrl,
    SERVICE_API_KEY: key,
  })
  undo.push(() => gateway.stop())
  const tee = await startTee(gateway)
  undo.push(() => tee.stop())
  return { api, url: tee.url, sent: tee.exchanges, got: standIn.exchanges, directory }
}

interface Had {
  name: string
  said?: unknown
  problem?: string
}

/** What the client made of each answer, with what it sent for it. */
async function haveAll({ url, sent }: Bench, program: string, client: string) {
  const before = sent.length
  const env = { ...process.env, CLIENT_URL: url, CLIENT_KEY: proxyKey }
  const output = await runProgram(process.execPath, [program, client], { env, timeoutMs: 120_000 })
  const all = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Had[]
  const exchanges = sent.slice(before)
  if (exchanges.length !== all.length)
    throw new Error(`${all.length} conversations took ${exchanges.length} requests`)
  return new Map(all.map((had, at) => [had.name, { had, exchange: exchanges[at] }]))
}

async function checkConversation(
  bench: Bench,
  client: string,
  wanted: ExpectedRecord,
  conversation: { had: Had; exchange: Exchange | undefined } | undefined,
): Promise<void> {
  if (conversation?.exchange === undefined) throw new Error('there was none')
  const { had, exchange } = conversation
  if (had.problem !== undefined) throw new Error(`the client says ${had.problem}`)
  if (wanted.speaks && had.said !== said) throw new Error(`the client read ${String(had.said)}`)
  refuse([
    ...differencesOnWay(bench, client, exchange),
    ...(await differencesInRecord(await recordOf(bench, exchange), exchange, wanted)),
  ])
}

async function checkAgent(bench: Bench, place: string, run: CodingAgentRun): Promise<void> {
  const before = bench.sent.length
  const home = join(bench.directory, run.title.replaceAll(/\W/g, '-'))
  const work = join(home, 'project')
  await mkdir(work, { recursive: true })
  const env = await environmentOf(run, home)
  const command = [join(place, 'node_modules', run.program), ...run.args]
  const output = await runProgram(process.execPath, command, { cwd: work, env, timeoutMs: 120_000 })
  if (!output.includes(said)) throw new Error(`it printed ${output.slice(-500)}`)
  const exchanges = bench.sent.slice(before)
  const calls = exchanges.filter(
    ({ method, path }) => method === 'POST' && modelCallAt('', path) !== undefined,
  )
  if (calls.length === 0) throw new Error('it called no model')
  // Claude Code also asks whether anybody is there, without a key.
  const forwarded = exchanges.filter(({ answer }) => answer.status !== 401)
  const differences = forwarded.flatMap((each) => differencesOnWay(bench, run.upstream, each))
  for (const exchange of calls) differences.push(...(await agentRecord(bench, run, exchange)))
  refuse(differences)
}

async function agentRecord(bench: Bench, run: CodingAgentRun, exchange: Exchange): Promise<string[]> {
  const { provider, model, agentName, names } = run
  const wanted: ExpectedRecord = {
    ...{ provider, model, speaks: true, isStream: true },
    ...{ prompt_tokens: tokens.prompt, completion_tokens: tokens.completion },
  }
  const record = await recordOf(bench, exchange)
  // Its identifiers are new in every run; one that is in no request would be of another place.
  const whole = `${exchange.headers.join('\n')}\n${exchange.body.toString()}`
  const named = (value: string | null) =>
    value !== null && whole.includes(value) ? value : 'from the request'
  const labels: ExpectedLabels = {
    agent_name: agentName,
    ...(names.session && { session_id: named(record.session_id) }),
    ...(names.user && { user_id: named(record.user_id) }),
  }
  return differencesInRecord(record, exchange, wanted, labels)
}

function differencesOnWay({ got }: Bench, name: string, exchange: Exchange): string[] {
  const upstream = upstreams.find((each) => each.name === name)
  if (upstream === undefined) throw new CannotRun(`there is no upstream ${name}`)
  const same = got.find(({ number }) => number === exchange.number)
  if (same === undefined) return [`${exchange.method} ${exchange.path} was not forwarded`]
  return differencesOf(exchange, same, upstream)
}

async function recordOf({ api }: Bench, { answer }: Exchange): Promise<LoggedCall> {
  const id = headerOf(answer.headers, 'x-service-request-id')
  const find = async () => (await api.readTopic(topics.requestLogged)).find((record) => record.id === id)
  let record = await find()
  await until(async () => (record ??= await find()) !== undefined)
  if (record === undefined) throw new Error('there is no record')
  return record
}

function checkKey({ got }: Bench): void {
  const leaked = got.filter(({ headers, path }) => [path, ...headers].some((text) => text.includes(proxyKey)))
  refuse(leaked.map(({ method, path }) => `${method} ${path}`))
}

function refuse(differences: readonly string[]): void {
  if (differences.length > 0) throw new Error(differences.join('; '))
}
