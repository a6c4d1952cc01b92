import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const inBrowser = ['test/browser/**/*.test.ts']

export default defineConfig({
  // Examples import it as their readers do. The build may be missing, or older than the source.
  resolve: { alias: [{ find: /^quarterdeck$/, replacement: join(import.meta.dirname, 'src/index.ts') }] },
  test: {
    pool: 'threads',
    isolate: false,
    // Vitest leaves a core free by default, which on two cores means one at a time.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/clients/**', ...inBrowser],
        },
      },
      {
        // A project of its own, so that the browser is started only for those who run one of its tests.
        extends: true,
        test: { name: 'browser', include: inBrowser, globalSetup: 'test/browser/start-browser.ts' },
      },
    ],
  },
})
