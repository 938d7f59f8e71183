const http = require('node:http')
const { ModernFakeTimers } = require('@jest/fake-timers')
const { ModuleMocker } = require('jest-mock')
const { Agent, setGlobalDispatcher } = require('undici')

/**
 * `fetch` and `http.request` open a connection for each request. A kept one fails where the process stalls for
 * longer than the test's server keeps it: Node closes it after 6 s, while the request is on its way (ECONNRESET).
 */
http.globalAgent = new http.Agent({ keepAlive: false })
setGlobalDispatcher(new Agent({ pipelining: 0 }))

/**
 * What a test file finds around it: the globals of the process, which it shares with the files before and after it in the same worker
 * (docs/decisions/0073). What a file left changed in `process.env`, in timers and by `jest.spyOn` is put back at its end; what else it
 * left changed of what others are likely to meet fails it.
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

  /** A file that says a timeout of its own keeps it. */
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

/** Listeners of signals only: libraries rightly have one for the end of the process, for good. */
function whatOthersMeet() {
  const { Date, fetch, setTimeout, setInterval, setImmediate, queueMicrotask } = globalThis
  const signals = process.eventNames().filter((name) => String(name).startsWith('SIG'))
  return {
    ...{ Date, 'Date.now': Date.now, fetch, setTimeout, setInterval, setImmediate, queueMicrotask },
    ...{ 'process.cwd': process.cwd(), 'process.exitCode': process.exitCode },
    ...Object.fromEntries(signals.map((name) => [`${name} listeners`, process.listenerCount(name)])),
  }
}
