const { registerHooks } = require('node:module')
const { pathToFileURL } = require('node:url')
const { default: JestRuntime } = require('jest-runtime')

/** Exports of `@jest/globals`. Each forwards to the current test file's: modules outlive files. */
const names = ['afterAll', 'afterEach', 'beforeAll', 'beforeEach', 'describe', 'expect', 'jest', 'test']
const globalsUrl = 'sluice:jest-globals'
const globalsKey = 'sluice.jest-globals'
const globalsOfFile = Symbol.for(globalsKey)
const standIns = `const globalsOfFile = Symbol.for('${globalsKey}')
const standInFor = (name) => new Proxy(() => {}, {
  apply: (_, self, values) => globalThis[globalsOfFile]()[name](...values),
  get: (_, key) => globalThis[globalsOfFile]()[name][key],
})
${names.map((name) => `export const ${name} = standInFor('${name}')`).join('\n')}`

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globalsUrl, shortCircuit: true } : next(specifier, context),
  load: (url, context, next) =>
    url === globalsUrl ? { format: 'module', source: standIns, shortCircuit: true } : next(url, context),
})

/** Jest's own symbols among the globals, set by the previous file. */
const notes = [
  'EVENT_HANDLERS',
  'TEST_TIMEOUT_SYMBOL',
  'RETRY_TIMES',
  'RETRY_IMMEDIATELY',
  'WAIT_BEFORE_RETRY',
  'LOG_ERRORS_BEFORE_RETRY',
].map((name) => Symbol.for(name))

/**
 * Methods that load modules separately. Jest would do so among modules that it loads itself, without effect
 * on ours.
 */
const forModules = new Set(
  'mock doMock setMock unstable_mockModule resetModules isolateModules isolateModulesAsync'.split(' '),
)

const timesLoaded = new Map()

/**
 * Node loads test files and their imports, TypeScript included, each module once per worker
 * (docs/decisions/0073).
 */
module.exports = class NativeRuntime extends JestRuntime {
  constructor(...dependencies) {
    const { getBuiltinModule } = process
    super(...dependencies)
    // Jest replaces it for modules that it loads itself.
    process.getBuiltinModule = getBuiltinModule
    const [, , , , , , testPath] = dependencies
    let globals
    // Lazily: jest's runner sets them after this constructor.
    globalThis[globalsOfFile] = () =>
      (globals ??= restrictJest(this.requireModuleOrMock(testPath, '@jest/globals')))
  }

  /** Jest's test runner keeps state in its modules, so each file gets a new one. */
  requireInternalModule(path) {
    delete require.cache[path]
    for (const note of notes) delete globalThis[note]
    return require(path)
  }

  unstable_shouldLoadAsEsm() {
    return true
  }

  /** A file that --watch runs again is loaded again. */
  unstable_importModule(path) {
    const times = timesLoaded.get(path) ?? 0
    timesLoaded.set(path, times + 1)
    return import(pathToFileURL(path).href + (times === 0 ? '' : `?${times}`))
  }
}

function restrictJest(globals) {
  return { ...globals, jest: new Proxy(globals.jest, { get: refuseModules }) }
}

function refuseModules(jest, key) {
  if (!forModules.has(key)) return jest[key]
  throw new Error(`jest.${key}: test files share their modules (docs/decisions/0073)`)
}
