import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findBrowser } from './find-browser.ts'

function machineWith(...programs: string[]) {
  const root = mkdtempSync(join(tmpdir(), 'quarterdeck-browser-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const program of programs) {
    mkdirSync(join(root, program, '..'), { recursive: true })
    writeFileSync(join(root, program), '')
    chmodSync(join(root, program), 0o755)
  }
  return { root, PATH: ['a', 'b'].map((folder) => join(root, folder)).join(delimiter) }
}

test('prefers the headless shell to any other browser, wherever it is on the PATH', () => {
  const { root, PATH } = machineWith('a/google-chrome', 'a/chromium', 'b/chromium-headless-shell')

  expect(findBrowser({ PATH })).toBe(join(root, 'b', 'chromium-headless-shell'))
})

test('takes Chrome if there is nothing else, and null if there is no browser', () => {
  const { root, PATH } = machineWith('b/google-chrome')

  expect(findBrowser({ PATH })).toBe(join(root, 'b', 'google-chrome'))
  expect(findBrowser({ PATH: join(root, 'a') })).toBe(null)
  expect(findBrowser({})).toBe(null)
})

test('takes the browser that was named, or says that it does not exist', () => {
  const { root, PATH } = machineWith('a/chromium', 'mine')

  expect(findBrowser({ PATH, QUARTERDECK_BROWSER: join(root, 'mine') })).toBe(join(root, 'mine'))
  expect(() => findBrowser({ PATH, QUARTERDECK_BROWSER: '/no/such' })).toThrow(
    'QUARTERDECK_BROWSER is /no/such, and no program is there.',
  )
})
