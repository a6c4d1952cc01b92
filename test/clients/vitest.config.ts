import { defineConfig } from 'vitest/config'

/** `npm run test:clients`. Not a part of `npm test`: CopilotKit alone is half a gigabyte to install. */
export default defineConfig({
  test: {
    root: '.',
    include: ['test/clients/**/*.test.ts'],
    globalSetup: 'test/browser/start-browser.ts',
    pool: 'threads',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
})
