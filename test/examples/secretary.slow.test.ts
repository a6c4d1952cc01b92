import { expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { copyExample, OPERATOR_TOKEN } from './copied-example.ts'

test('secretary passes its own test cases, and validate names its skill', async () => {
  const { quarterdeck } = await copyExample('secretary')
  expect(await quarterdeck('test')).toContain('3 of 3 test cases passed')
  expect(await quarterdeck('validate')).toContain('skill weekly-report: SKILL.md and 1 file, 1 kB')
})

test('secretary shows its skill to operators', async () => {
  const { start } = await copyExample('secretary')
  const { url } = await start()
  const agent = await createClient({ url, token: OPERATOR_TOKEN }).agents.get('secretary')
  expect(agent.skills).toEqual([
    {
      name: 'weekly-report',
      description: expect.stringContaining('Use it when somebody asks for a report'),
      bytes: expect.any(Number),
      files: [{ path: 'template.md', bytes: expect.any(Number) }],
    },
  ])
})
