import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { copyExample, OPERATOR_TOKEN } from './copied-example.ts'

test('secretary passes its own test cases, and validate names its skill and its schedule', async () => {
  const { quarterdeck } = await copyExample('secretary')
  expect(await quarterdeck('test')).toContain('4 of 4 test cases passed')
  const named = await quarterdeck('validate')
  expect(named).toContain('skill weekly-report: SKILL.md and 1 file, 1 kB')
  expect(named).toMatch(
    /schedule weekly-report: next (?:\d{4}-\d\d-\d\d 08:00, ){2}\d{4}-\d\d-\d\d 08:00 \(Europe\/Berlin\)/,
  )
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

test('secretary remembers from one conversation to the next, and writes its report when it is told to', async () => {
  const { folder, start, quarterdeck } = await copyExample('secretary')
  const { url } = await start({ dataDir: join(folder, '.quarterdeck') })
  const client = createClient({ url, token: OPERATOR_TOKEN })
  const ended = async (run: string | null) => {
    if (run === null) expect.fail('no run was started')
    await expect.poll(async () => (await client.run(run)).status).toBe('completed')
    return client.run(run)
  }

  await ended((await client.send('monday', 'remember {"fact": "Ada wants dates such as 3 March."}')).run_id)
  const recalled = await ended((await client.send('tuesday', 'recall {"words": "dates"}')).run_id)
  expect(recalled.answer).toContain('Ada wants dates such as 3 March.')

  expect(await quarterdeck('schedules', 'list')).toMatch(
    /^secretary\.weekly-report +0 8 \* \* 1 Europe\/Berlin +\d{4}-\d\d-\d\d 0[67]:00$/m,
  )
  const report = await ended((await client.schedules.run('secretary.weekly-report')).run_id)
  expect(report.answer).toContain('At most ten lines')
  expect(await quarterdeck('schedules', 'history', 'secretary.weekly-report')).toMatch(/ completed .+ by operator$/m)
})
