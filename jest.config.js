/**
 * Two projects. `unit` needs no network and no infrastructure. `integration` (tests/, *.integration.test.ts)
 * runs against a real broker, registry and Postgres, which tests/support starts once.
 */
const base = {
  rootDir: '.',
  // Node loads what tests need, and once: see docs/decisions/0073.
  runtime: '<rootDir>/tests/support/native-runtime.cjs',
  testEnvironment: '<rootDir>/tests/support/shared-environment.cjs',
  injectGlobals: false,
  transform: {},
  modulePathIgnorePatterns: ['<rootDir>/.sluice', '<rootDir>/.cache', '<rootDir>/sdk/typescript/dist'],
}

export default {
  // Ends a test that hangs; no test asserts a time. Ten processes share two cores, so jest's 5 s are too few.
  testTimeout: 300_000,
  testSequencer: '<rootDir>/tests/support/longest-first.cjs',
  projects: [
    {
      ...base,
      displayName: 'unit',
      // Read by the environment: jest takes `testTimeout` from the top level alone.
      testEnvironmentOptions: { testTimeoutMs: 30_000 },
      testMatch: ['**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '\\.integration\\.test\\.ts$', '<rootDir>/tests/'],
    },
    {
      ...base,
      displayName: 'integration',
      testMatch: ['**/*.integration.test.ts', '<rootDir>/tests/**/*.test.ts'],
      globalSetup: '<rootDir>/tests/support/global-setup.ts',
      globalTeardown: '<rootDir>/tests/support/global-teardown.ts',
    },
  ],
}
