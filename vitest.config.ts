import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const inBrowser = ['test/browser/**/*.test.ts']
const asProcess = ['test/crash/**/*.test.ts', 'src/cli/launcher.test.ts']

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
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: [
            'src/**/*.test.ts',
            'console/src/**/*.test.ts',
            'test/**/*.test.ts',
            'examples/**/*.test.ts',
            'bench/**/*.test.ts',
          ],
          exclude: [
            ...['**/node_modules/**', 'test/clients/**', 'test/hosts/**', 'test/console/**'],
            ...[...inBrowser, ...asProcess],
          ],
        },
      },
      {
        // Tests that start the program as a process. A separate project, so that it is built only if one of them runs.
        extends: true,
        test: { name: 'program', include: asProcess, globalSetup: 'test/crash/support/build-program.ts' },
      },
      {
        // A separate project, so that the console is built and the browser starts only if one of these tests runs.
        extends: true,
        test: {
          name: 'browser',
          include: inBrowser,
          globalSetup: ['test/browser/build-console.ts', 'test/browser/start-browser.ts'],
        },
      },
    ],
  },
})
