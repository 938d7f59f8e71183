/**
 * Two projects: `unit` needs no network and no infrastructure; `integration` (files named *.integration.test.ts,
 * and everything in tests/) runs against the real broker, registry and Postgres that tests/support starts once.
 */
const base = {
  rootDir: '.',
  // Node loads what tests need, and once: see docs/decisions/0073.
  runtime: '<rootDir>/tests/support/native-runtime.cjs',
  testEnvironment: '<rootDir>/tests/support/shared-environment.cjs',
  injectGlobals: false,
  transform: {},
  modulePathIgnorePatterns: ['<rootDir>/.sluice', '<rootDir>/.cache', '<rootDir>/sdk/dist'],
}

export default {
  // No test asserts a time; this only ends one that hangs. Five seconds are too few where ten processes share two cores.
  testTimeout: 300_000,
  testSequencer: '<rootDir>/tests/support/longest-first.cjs',
  projects: [
    {
      ...base,
      displayName: 'unit',
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
