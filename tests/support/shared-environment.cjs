const http = require('node:http')
const { ModernFakeTimers } = require('@jest/fake-timers')
const { ModuleMocker } = require('jest-mock')
const { Agent, setGlobalDispatcher } = require('undici')

/**
 * `fetch` and `http.request` open a connection per request. Node closes idle connections after 6 s: a request
 * on a kept one fails with ECONNRESET after a longer stall of the process.
 */
http.globalAgent = new http.Agent({ keepAlive: false })
setGlobalDispatcher(new Agent({ pipelining: 0 }))

/**
 * The environment of a test file: the process's globals, shared with other files of the worker
 * (docs/decisions/0073). Restores `process.env`, timers and `jest.spyOn` after the file. Fails the file if it
 * changed anything else that others are likely to use.
 */
module.exports = class SharedEnvironment {
  global = globalThis
  moduleMocker = new ModuleMocker(globalThis)
  #console = globalThis.console
  #exit = process.exit
  #variables = { ...process.env }
  #before = whatOthersMeet()
  #testTimeoutMs

  constructor({ projectConfig }) {
    this.#testTimeoutMs = projectConfig.testEnvironmentOptions?.testTimeoutMs
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis })
  }

  async setup() {}

  /** A file's own timeout takes precedence. */
  handleTestEvent({ name }, state) {
    const isOwn = globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] !== undefined
    if (name === 'run_start' && this.#testTimeoutMs !== undefined && !isOwn)
      state.testTimeout = this.#testTimeoutMs
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks()
    this.fakeTimersModern.dispose()
    // Jest replaces these two for each file.
    globalThis.console = this.#console
    process.exit = this.#exit
    for (const name of Object.keys(process.env)) if (!(name in this.#variables)) delete process.env[name]
    Object.assign(process.env, this.#variables)
    const after = whatOthersMeet()
    const changed = Object.keys(after).filter((name) => after[name] !== this.#before[name])
    if (changed.length > 0)
      throw new Error(`left changed for the test files that follow: ${changed.join(', ')}`)
  }

  getVmContext() {
    return null
  }
}

/** Listeners of signals only: libraries may listen for the end of the process. */
function whatOthersMeet() {
  const { Date, fetch, setTimeout, setInterval, setImmediate, queueMicrotask } = globalThis
  const signals = process.eventNames().filter((name) => String(name).startsWith('SIG'))
  return {
    ...{ Date, 'Date.now': Date.now, fetch, setTimeout, setInterval, setImmediate, queueMicrotask },
    ...{ 'process.cwd': process.cwd(), 'process.exitCode': process.exitCode },
    ...Object.fromEntries(signals.map((name) => [`${name} listeners`, process.listenerCount(name)])),
  }
}
