import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** `npm run test:console`. Not a part of `npm test`: it looks at every page in every state, theme and width, which takes many minutes. */
export default defineConfig({
  resolve: {
    alias: [{ find: /^quarterdeck\/client$/, replacement: join(import.meta.dirname, '../../src/client/client.ts') }],
  },
  test: {
    root: '.',
    include: ['test/console/**/*.test.ts'],
    globalSetup: [
      'test/browser/build-console.ts',
      'test/browser/start-browser.ts',
      'test/crash/support/build-program.ts',
    ],
    pool: 'threads',
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
