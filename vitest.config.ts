import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'
import { findPostgres, NO_POSTGRES } from './test/postgres/find-postgres.ts'
import { temporaryFolder } from './test/temporary-files.ts'
import { isQuick } from './test/tier.ts'

const inBrowser = ['test/browser/**/*.test.ts']
const onPostgres = ['src/**/*.pg.test.ts', 'test/**/*.pg.test.ts']
const asProcess = [
  'test/crash/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/deploy/proxies.slow.test.ts',
  'src/cli/launcher.slow.test.ts',
]

/** Vitest's own list is lost when another is given. */
const leftOut = ['**/node_modules/**', ...(isQuick ? ['**/*.slow.test.ts', '**/*.slow.pg.test.ts'] : [])]

const hasPostgres = findPostgres() !== null
if (!hasPostgres) process.stderr.write(`${NO_POSTGRES}\n`)

// Commands print local times.
process.env.TZ = 'UTC'

export default defineConfig({
  // Examples import 'quarterdeck', as users do. It must lead to the source, because the build may be missing or old.
  resolve: {
    alias: [
      { find: /^quarterdeck$/, replacement: join(import.meta.dirname, 'src/index.ts') },
      { find: /^quarterdeck\/client$/, replacement: join(import.meta.dirname, 'src/client/client.ts') },
    ],
  },
  test: {
    pool: 'threads',
    isolate: false,
    // One more than the cores that we count on: a file often waits for a timer or for a process that it has started.
    maxWorkers: 3,
    // For what hangs. A machine that does much else at the same time has made a test of milliseconds take 20 s.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 120_000,
    // Vitest's own limit is one second.
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
    globalSetup: 'test/temporary-files.ts',
    setupFiles: 'test/property-seed.ts',
    // `npm run coverage`. Tests that start the program as a process are not seen, so they are left out.
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/testing/**', '**/*.contract.ts', '**/contract/**'],
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: 'coverage',
      thresholds: { lines: 80 },
    },
    env: temporaryFolder === null ? {} : { TMPDIR: temporaryFolder },
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: ['src/**/*.test.ts', 'console/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: [
            ...leftOut,
            ...[
              'test/clients/*.test.ts',
              'test/clients/v1/calls.test.ts',
              'test/hosts/**',
              'test/console/**',
              'test/replicas/**',
            ],
            ...[...inBrowser, ...asProcess, ...onPostgres],
          ],
        },
      },
      {
        // Tests that start the program as a process. A separate project, so that it is built only if one of them runs.
        extends: true,
        test: {
          name: 'program',
          // Servers are started, killed and started again. On a busy machine that takes its time.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          include: asProcess,
          exclude: leftOut,
          globalSetup: 'test/crash/support/build-program.ts',
        },
      },
      {
        // A separate project, so that Postgres starts only if one of these tests runs.
        extends: true,
        test: {
          name: 'postgres',
          testTimeout: 300_000,
          hookTimeout: 300_000,
          include: hasPostgres ? onPostgres : [],
          exclude: leftOut,
          globalSetup: 'test/postgres/start-postgres.ts',
        },
      },
      {
        // A separate project, so that the console is built and the browser starts only if one of these tests runs.
        extends: true,
        test: {
          name: 'browser',
          include: inBrowser,
          exclude: leftOut,
          globalSetup: ['test/browser/build-console.ts', 'test/browser/start-browser.ts'],
        },
      },
    ],
  },
})
