import { defineConfig } from 'vitest/config'

/** `npm run test:hosts`, and `npm run test:soak` with MINUTES. Not a part of `npm test`: the hosts are a gigabyte to install, and some tests wait for minutes. */
export default defineConfig({
  test: {
    root: '.',
    include: [process.env.MINUTES === undefined ? 'test/hosts/**/*.test.ts' : 'test/hosts/soak.ts'],
    globalSetup: 'test/crash/support/build-program.ts',
    pool: 'threads',
    maxWorkers: 1,
    maxConcurrency: 4,
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
})
