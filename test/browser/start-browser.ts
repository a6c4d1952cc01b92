// One browser for all tests of a run. Vitest calls this only when a test of the project `browser` is about to run.

import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { findBrowser, NO_BROWSER } from './find-browser.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser listens. Null: there is none, and tests that need it are skipped. */
    browser: string | null
  }
}

export default async function startBrowser(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const executablePath = findBrowser(process.env)
  if (executablePath === null) {
    if (process.env.QUARTERDECK_REQUIRE_BROWSER === '1') throw new Error(NO_BROWSER)
    process.stderr.write(`Tests in a browser are skipped. ${NO_BROWSER}\n`)
    project.provide('browser', null)
    return
  }
  // Chromium's sandbox does not start for root, and in a container the tests run as root. The pages are our own.
  const how = { executablePath, args: ['--no-sandbox'], host: '127.0.0.1', timeout: 180_000 }
  const server = await chromium.launchServer(how)
  project.provide('browser', server.wsEndpoint())
  return () => server.close()
}
