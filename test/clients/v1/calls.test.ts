// Every kind of call that a client library can make, with its newest version and its default settings. docs/do/use-openai-clients.md has the numbers.

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import * as agents from './agents.calls.ts'
import * as ai from './ai.calls.ts'
import { openHouse } from './house.ts'
import * as langchain from './langchain.calls.ts'
import * as openai from './openai.calls.ts'

const libraries = { openai, ai, '@langchain/openai': langchain, '@openai/agents': agents }

describe.each(Object.entries(libraries))('%s', (_name, { works, refused }) => {
  test.each(Object.entries({ ...works, ...refused }))('%s', async (_kind, call) => {
    await using house = await openHouse()
    await call(house)
  })
})

test('docs/do/use-openai-clients.md has these libraries, versions and numbers', () => {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const rows = Object.entries(libraries).map(([name, { works, refused }]) => {
    const [working, not] = [works, refused].map((calls) => Object.keys(calls).length)
    return `| \`${name}\` ${devDependencies[name]} | ${(working ?? 0) + (not ?? 0)} | ${working} |`
  })

  const page = readFileSync('docs/do/use-openai-clients.md', 'utf8')
  expect(rows.filter((row) => !page.includes(row))).toEqual([])
})
