import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import { messageOf } from '../../runtime/errors.ts'
import { listen } from '../../runtime/operations-server.ts'
import { startRecordReceiver, type RecordReceiver } from '../../tests/support/record-receiver.ts'
import { startProtocolServer, type ProtocolServer } from './testing/protocol-server.ts'

// Takes over 10 s beside five other test processes on two cores.
jest.setTimeout(120_000)

/** The result of `npm pack`, installed in a project and imported by programs. */
const run = promisify(execFile)
const sdk = import.meta.dirname
const modules = join(sdk, '..', '..', 'node_modules')
const frameworks = ['ai', '@ai-sdk/openai', '@langchain/openai', '@langchain/core', 'ollama']
let project: string
let provider: ProtocolServer
let receiver: RecordReceiver

beforeAll(async () => {
  ;[provider, receiver] = await Promise.all([startProtocolServer(), startRecordReceiver()])
  project = await mkdtemp(join(tmpdir(), 'sluice-sdk-'))
  // .npmrc disables package scripts; this one builds the package.
  const packing = ['pack', '--ignore-scripts=false', '--silent', '--pack-destination', project]
  const { stdout } = await run('npm', packing, { cwd: sdk })
  await writeFile(join(project, 'package.json'), '{"name": "application", "private": true}')
  const quiet = ['--offline', '--no-audit', '--no-fund', '--silent']
  await run('npm', ['install', ...quiet, `./${stdout.trim()}`], { cwd: project })
  for (const name of ['openai', '@anthropic-ai/sdk', '@google/genai', ...frameworks]) {
    await mkdir(dirname(join(project, 'node_modules', name)), { recursive: true })
    await symlink(join(modules, name), join(project, 'node_modules', name))
  }
})
afterAll(async () => {
  await rm(project, { recursive: true })
  await Promise.all([provider.stop(), receiver.stop()])
})

async function runProgram(name: string, code: string, environment: Record<string, string> = {}) {
  receiver.taken.length = 0
  provider.seen.length = 0
  const file = join(project, name)
  await writeFile(file, code)
  const env = {
    PATH: process.env['PATH'],
    SERVICE_API_KEY: 'svc_test',
    SERVICE_BASE_URL: receiver.url,
    PROXY_API_KEY: 'proxy',
    GATEWAY_URL: provider.url,
    OPENAI_API_KEY: 'k',
    OPENAI_BASE_URL: `${provider.url}/v1`,
    ANTHROPIC_API_KEY: 'k',
    ANTHROPIC_BASE_URL: provider.url,
    OLLAMA_HOST: provider.url,
    PROVIDER_URL: provider.url,
    ...environment,
  }
  return run(process.execPath, [file], { cwd: project, env })
}

test('it holds two builds, declarations, README and licence, and needs nothing', async () => {
  const installed = join(project, 'node_modules', '@sluice', 'sdk')
  const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
    dependencies?: object
  }
  expect(dependencies).toBeUndefined()
  for (const file of [
    'README.md',
    'dist/index.js',
    'dist/index.cjs',
    'dist/index.d.ts',
    'dist/index.d.cts',
    'LICENSE',
  ])
    expect((await readFile(join(installed, file), 'utf8')).length).toBeGreaterThan(0)
})

test('an ES module with the Google client; the process ends by itself and its record is sent', async () => {
  const { stdout } = await runProgram(
    'google.mjs',
    `import { GoogleGenAI } from '@google/genai'
     import { wrap } from '@sluice/sdk'
     const google = wrap(new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: process.env.PROVIDER_URL } }))
     for await (const part of await google.models.generateContentStream({ model: 'model-1', contents: 'Hi' })) process.stdout.write(part.text)`,
  )
  expect(stdout).toBe('Hello there')
  expect(receiver.taken).toMatchObject([{ model: 'model-1', source: 'sdk' }])
})

test('its package.json can be asked for, as tools do', async () => {
  const program = `console.log(require('@sluice/sdk/package.json').version)`
  expect((await runProgram('version.cjs', program)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test('CommonJS', async () => {
  const program = `const { trace } = require('@sluice/sdk')
    console.log(trace((a, b) => a + b)(1, 2))`
  const { stdout } = await runProgram('trace.cjs', program)
  expect(stdout).toBe('3\n')
  expect(receiver.taken).toMatchObject([{ source: 'trace', response_body: { result: 3 } }])
})

test('both in one process: one session, and a client that each of them wraps is recorded once', async () => {
  const program = `import { createRequire } from 'node:module'
    import OpenAI from 'openai'
    import { withSession, wrap } from '@sluice/sdk'
    const other = createRequire(import.meta.url)('@sluice/sdk')
    const openai = other.wrap(wrap(new OpenAI()))
    await withSession({ sessionId: 'outer' }, async () => {
      await openai.chat.completions.create({ model: 'm', messages: [] })
      other.recordToolCall({ toolName: 't' })
    })`
  await runProgram('both.mjs', program)
  expect(receiver.taken.map(({ session_id, source }) => [source, session_id]).sort()).toEqual([
    ['mcp', 'outer'],
    ['sdk', 'outer'],
  ])
})

test('a method with the decorator, as a compiler writes it', async () => {
  const { code } = await transform(
    `import { traced } from '@sluice/sdk'
     class Adder { #base = 1; @traced({ model: 'm' }) add(to: number): number { return this.#base + to } }
     console.log(new Adder().add(2))`,
    { loader: 'ts', target: 'node18' },
  )
  expect((await runProgram('decorated.mjs', code)).stdout).toBe('3\n')
  expect(receiver.taken).toMatchObject([{ model: 'm', request_body: { function: 'add', arguments: [2] } }])
})

test.each([
  ['program.mts', "import * as sdk from '@sluice/sdk'"],
  ['program.cts', "import sdk = require('@sluice/sdk')"],
])('the declarations compile: %s', async (name, imported) => {
  const file = join(project, name)
  const program = `${imported}
    const client: sdk.SluiceClient = sdk.configure({ apiKey: 'k', beforeSend: (record) => record })
    // @ts-expect-error: an option that there is not
    sdk.createClient({ apikey: 'k' })
    export const recording: typeof fetch = sdk.createFetch(client.createFetch((url, init) => fetch(url, init)))
    class Adder { @sdk.traced({ model: 'm' }) add(to: number): number { return to } }
    export const sum: number = sdk.trace((a: number) => new Adder().add(a))(1)
    export const wrapped: Map<string, number> = client.wrap(new Map<string, number>())
    sdk.recordToolCall({ toolName: 't', arguments: {} })
    export const all: [sdk.ShippingStats, number, Promise<boolean>] =
      [sdk.stats(), sdk.withSession({ sessionId: 's' }, () => 1), sdk.flush()]
    export const done: Promise<void> = sdk.shutdown()`
  await writeFile(file, program)
  const options = { exactOptionalPropertyTypes: true, skipDefaultLibCheck: true, types: [] }
  expect(await faultsOf([file], options)).toBe('')
})

/** The compiler's messages on files of the project; empty without any. */
async function faultsOf(files: string[], options: object): Promise<string> {
  const compilerOptions = { module: 'nodenext', target: 'es2022', strict: true, noEmit: true, ...options }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const compiler = join(modules, 'typescript-native', 'bin', 'tsc')
  try {
    return (await run(process.execPath, [compiler], { cwd: project })).stdout
  } catch (error) {
    // It exits with 1 or 2 and prints its messages to standard output.
    return (error as { stdout: string }).stdout || messageOf(error)
  }
}

test('a rejection that nobody handles still ends the program, and is recorded', async () => {
  const program = `import { trace, flush } from '@sluice/sdk'
    process.on('unhandledRejection', async (error) => { console.log(error.message); await flush(30_000) })
    trace(async () => { throw new Error('mine') })()`
  expect((await runProgram('unhandled.mjs', program)).stdout).toBe('mine\n')
  expect(receiver.taken).toMatchObject([{ source: 'trace', error: 'Error: mine' }])
})

test('records go through the proxy of the environment where Node goes by it', async () => {
  const asked: (string | undefined)[] = []
  const proxy = createServer((request, response) => {
    asked.push(request.url)
    request.resume().on('end', () => response.end('{"status":"queued"}'))
  })
  await listen(proxy, 0, '127.0.0.1')
  try {
    const program = `import { recordToolCall, stats } from '@sluice/sdk'
      recordToolCall({ toolName: 't' })
      process.on('exit', () => console.log(stats().sent))`
    const { stdout } = await runProgram('proxy.mjs', program, {
      SERVICE_BASE_URL: 'http://sluice.invalid',
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    })
    expect([stdout, asked]).toEqual(['1\n', ['http://sluice.invalid/internal/log']])
  } finally {
    await new Promise((resolve) => proxy.close(resolve))
  }
})

test('an API that is away ends no program and keeps none', async () => {
  const program = `import { recordToolCall } from '@sluice/sdk'
    recordToolCall({ toolName: 't' })`
  const { stderr } = await runProgram('away.mjs', program, { SERVICE_BASE_URL: 'http://127.0.0.1:9' })
  expect(stderr).not.toContain('Error: ')
  expect(stderr).toContain('the program ends with 1 record(s)')
})

test('an answer, or a traced promise, that is never read is recorded when it is thrown away', async () => {
  const program = `import OpenAI from 'openai'
    import { setFlagsFromString } from 'node:v8'
    import { runInNewContext } from 'node:vm'
    import { trace, wrap, flush } from '@sluice/sdk'
    const openai = wrap(new OpenAI())
    const never = () => { trace(() => new (class Own extends Promise {})(() => {}))() }
    never()
    const call = () => openai.chat.completions.create({ model: 'm', messages: [], stream: true }).asResponse().then(() => {})
    await call()
    setFlagsFromString('--expose-gc')
    for (let turn = 0; turn < 20; turn++) { runInNewContext('gc')(); await new Promise((resolve) => setTimeout(resolve, 20)) }
    await flush(30_000)`
  await runProgram('unread.mjs', program)
  const taken = receiver.taken.toSorted((a, b) => String(a['source']).localeCompare(String(b['source'])))
  expect(taken).toMatchObject([
    { aborted_by: 'client', status_code: 200 },
    { source: 'trace', response_body: { result: '[never read]' } },
  ])
})

/** Sources of the records of each example, in order. */
test.each([
  // The call through the gateway is recorded there.
  ['README.md', [['sdk'], ['sdk'], ['sdk'], [], ['trace'], ['mcp']]],
  ['../../docs/applications.md', [['sdk', 'sdk', 'sdk']]],
])('the examples of %s run as printed', async (page, sources) => {
  const text = await readFile(join(sdk, page), 'utf8')
  const examples = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code ?? '')
  const recorded: unknown[][] = []
  const name = (index: number) => `${basename(page, '.md')}-${index}.mts`
  for (const [index, code] of examples.entries()) {
    await runProgram(name(index), code)
    recorded.push(receiver.taken.map(({ source }) => source))
  }
  expect(recorded).toEqual(sources)
  const files = examples.map((_, index) => join(project, name(index)))
  const typeRoots = [join(modules, '@types')]
  expect(await faultsOf(files, { skipLibCheck: true, types: ['node'], typeRoots })).toBe('')
})
