// Who may import whom (CONTRIBUTING.md). There is no list of exceptions: forbidden imports are moved, not
// excused.
// Tests beside the code are left out of the layers: like tests/, they may use anything.
const TEST = String.raw`\.test\.ts$|/testing/`

/** Code under `from` imports nothing of this repository outside `allowed`. */
function layer(name, from, allowed, comment) {
  return {
    name,
    comment,
    severity: 'error',
    from: { path: from, pathNot: TEST },
    to: {
      pathNot: ['(^|/)node_modules/', ...allowed],
      dependencyTypesNot: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-no-pkg'],
    },
  }
}

/** The commands that operators run in the image, which has no development packages. */
const COMMANDS = require('./infra/images/commands.json')
const developmentPackages = Object.keys(require('./package.json').devDependencies).filter(
  (name) => !name.startsWith('@types/'),
)

module.exports = {
  forbidden: [
    layer(
      'schemas-stand-alone',
      '^schemas/',
      ['^schemas/'],
      'what flows is defined without anything that moves it',
    ),
    layer('capture-reads-schemas', '^capture/', ['^capture/', '^schemas/'], 'capture is pure'),
    layer('runtime-knows-no-domain', '^runtime/', ['^runtime/'], 'runtime uses libraries only'),
    layer(
      'http-knows-no-service',
      '^http/',
      ['^http/', '^schemas/', '^capture/', '^runtime/'],
      'routes, bodies, answers and keys are the same for every service',
    ),
    layer(
      'services-share-by-topics',
      '^services/(?!api/)([^/]+)/',
      ['^services/$1/', '^schemas/', '^capture/', '^runtime/', '^http/', '^detectors/'],
      'a service never imports another',
    ),
    layer(
      'detectors-are-pure',
      '^detectors/',
      ['^detectors/', '^schemas/', '^capture/'],
      'a detector reads text and nothing else, so that any process may run it',
    ),
    {
      name: 'who-runs-detectors',
      severity: 'error',
      comment: 'ingest and gateway mask with them, the scorer judges with them',
      from: {
        path: '^(schemas|capture|runtime|http|sdk|infra|scripts|services/(?!scorer|ingest|gateway))',
        pathNot: TEST,
      },
      to: { path: '^detectors/' },
    },
    layer(
      'the-browser-sees-its-own',
      '^services/dashboard/client/',
      ['^services/dashboard/client/', '^schemas/'],
      'the client reaches everything else over HTTP',
    ),
    layer(
      'api-mounts-ingest',
      '^services/api/',
      [
        '^services/api/',
        '^services/ingest/(ingest-core|config)\\.ts$',
        ...['^schemas/', '^capture/', '^runtime/', '^http/'],
      ],
      "the API serves ingest's routes too: it mounts its core with its settings, and knows nothing else of it",
    ),
    layer(
      'evals-judge-scoring',
      '^evals/',
      ['^evals/', '^schemas/', '^capture/', '^detectors/', '^services/scorer/scoring/'],
      'evaluations run the pure scoring, not the service',
    ),
    layer('sdk-is-small', '^sdk/', ['^sdk/', '^schemas/', '^capture/'], 'applications install it'),
    layer(
      'tools-know-no-service',
      '^(infra|scripts)/',
      ['^infra/', '^scripts/', '^schemas/', '^runtime/'],
      'services are started as processes, not imported',
    ),
    {
      name: 'schemas-use-few-libraries',
      severity: 'error',
      comment: 'zod, and what names types and ids',
      from: { path: '^schemas/', pathNot: TEST },
      to: { path: '(^|/)node_modules/', pathNot: '(^|/)node_modules/(zod|typeid-js|avsc)/' },
    },
    {
      name: 'nothing-imports-a-main',
      severity: 'error',
      comment: 'importing a module starts nothing',
      from: {},
      to: { path: '(^|/)main\\.ts$' },
    },
    {
      name: 'only-tests-import-tests',
      severity: 'error',
      from: { pathNot: ['^tests/', TEST] },
      to: { path: ['^tests/', TEST] },
    },
    {
      name: 'no-development-packages',
      severity: 'error',
      comment: 'what runs in production is a dependency, not a development one',
      // What is built into the client is no dependency of what serves it.
      from: {
        path: '^(schemas|capture|runtime|http|services|sdk)/',
        pathNot: [TEST, '^services/dashboard/client/'],
      },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'commands-run-in-the-image',
      severity: 'error',
      comment: 'what a command of operators reaches is in the image',
      from: { path: `^scripts/(${COMMANDS.join('|')})\\.ts$` },
      to: { reachable: true, path: `(^|/)node_modules/(${developmentPackages.join('|')})/` },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // The last three have packages of their own, in the platform cache.
    exclude: {
      path: '^(?:(?:\\.sluice|\\.cache|sdk/typescript/dist|services/dashboard/dist|tests/platform/otel/javascript)/|tests/e2e/doors/calls\\.js$|tests/platform/clients/clients\\.js$)',
    },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.cjs', '.json'],
    },
  },
}
