// The examples as their readers find them. The tests in test/examples run them, test/embedding/next.ts runs the one for Next.

import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const projects = globSync('examples/*/README.md', { cwd: root }).map((file) => file.split(/[\\/]/)[1] ?? '')

test('the index lists every project', () => {
  const listed = [...read('examples/README.md').matchAll(/\]\(([\w-]+)\/README\.md\)/g)].map(([, name]) => name)
  expect(listed.toSorted()).toEqual(projects.toSorted())
  expect(projects).toHaveLength(9)
})

describe.each(projects)('%s', (name) => {
  test('has a short page, with commands and what to change', () => {
    const page = read(`examples/${name}/README.md`)
    expect(page.split(/\s+/).length).toBeLessThanOrEqual(250)
    expect(page).toMatch(/^# [\s\S]+^```sh\n[\s\S]+^## What to change$/m)
  })

  test('is run by a test', () => {
    const tests = name === 'next-copilotkit' ? 'test/embedding/next.ts' : `test/examples/${name}.slow.test.ts`
    expect(existsSync(join(root, tests)) && read(tests)).toContain(name)
  })
})
