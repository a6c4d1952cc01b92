import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { copyExample, OPERATOR_TOKEN } from './copied-example.ts'

test('handbook is read, searched, measured and tested without a server', async () => {
  const { quarterdeck } = await copyExample('handbook')
  expect(await quarterdeck('validate')).toContain('handbook: 8 files, 7 kB; words only, nothing is sent')
  expect(await quarterdeck('knowledge', 'index', '--dry-run')).toContain('./handbook: 8 new or changed files, 7 kB')
  expect(await quarterdeck('knowledge', 'index')).toMatch(/^handbook: 8 files, \d+ passages\n$/)
  const found = await quarterdeck('knowledge', 'search', 'When do I need a note from a doctor?')
  expect(found).toMatch(/^1\. leave\.md, /)
  expect(found).toContain('From the fourth day on we need a note from a doctor.')
  const { recall_at_5, misses } = JSON.parse(await quarterdeck('knowledge', 'eval', 'questions.yaml', '--json'))
  expect([recall_at_5, misses]).toEqual([1, []])
  expect(await quarterdeck('test')).toContain('2 of 2 test cases passed')
})

test('handbook answers with its source, and never with a file that is gone', async () => {
  const { folder, start, quarterdeck } = await copyExample('handbook')
  const { url } = await start({ dataDir: join(folder, '.quarterdeck') })
  const client = createClient({ url, token: OPERATOR_TOKEN })
  const answered = async (message: string) => {
    const { run_id: run } = await client.send('talk', message)
    await expect.poll(async () => (await client.run(run)).status).toBe('completed')
    return (await client.run(run)).answer
  }
  expect(await answered('handbook parental leave')).toMatch(/^Parents get 20 days .* \[1\]$/m)
  expect(await quarterdeck('knowledge', 'status')).toContain('handbook: 8 files')
  await rm(join(folder, 'handbook', 'error-codes.md'))
  expect(await answered('handbook E-1042')).not.toContain('speed sensor')
  await expect.poll(() => quarterdeck('knowledge', 'index')).toContain('handbook: 7 files')
})
