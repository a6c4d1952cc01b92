import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** `npm run test:replicas`. Not a part of `npm test`: several servers are killed many times, which takes many minutes. */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^quarterdeck$/, replacement: join(import.meta.dirname, '../../src/index.ts') },
      { find: /^quarterdeck\/client$/, replacement: join(import.meta.dirname, '../../src/client/client.ts') },
    ],
  },
  test: {
    root: '.',
    pool: 'threads',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 3_600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'rig',
          include: ['test/replicas/**/*.test.ts'],
          globalSetup: 'test/crash/support/build-program.ts',
        },
      },
      {
        // The whole end-to-end suite, each server on a database of its own. Left out: the tests of Slack turn their clock by hand, which
        // a real database does not follow, and those of embedding are about a data directory.
        extends: true,
        test: {
          name: 'end to end',
          include: ['test/e2e/**/*.test.ts'],
          exclude: ['test/e2e/slack*.test.ts', 'test/e2e/embedding.test.ts'],
          globalSetup: 'test/postgres/start-postgres.ts',
        },
      },
    ],
  },
})
