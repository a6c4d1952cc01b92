import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'

test('without a server, knowledge keeps the index in the database; while one runs elsewhere, it only reads', async () => {
  const { url, drop } = await openTestDatabase()
  onTestFinished(drop)
  const cwd = await tempFolder()
  await mkdir(join(cwd, 'handbook'))
  await writeFile(join(cwd, 'handbook/leave.md'), '# Leave\n\nParents get 20 days for each child.\n')
  await writeFile(join(cwd, 'questions.yaml'), '- { question: How long is leave for parents?, file: leave.md }\n')
  await writeFile(
    join(cwd, 'agent.yaml'),
    'name: clerk\nmodel: { provider: demo }\ninstructions: Be brief.\ntools: [{ type: knowledge, name: handbook, source: handbook }]\n',
  )
  const clock = createSystemClock()
  const env = { NO_COLOR: '1', QUARTERDECK_STORE: url }
  const run = async (...args: string[]) => {
    const io = createTestIo({ cwd, clock, env })
    return { code: await main(args, io), out: io.printed(), err: io.complained() }
  }

  expect((await run('knowledge', 'index', '--dry-run')).out).toContain('1 new or changed file')
  expect(await run('knowledge', 'index')).toEqual({ code: 0, out: 'handbook: 1 file, 1 passage\n', err: '' })
  expect((await run('knowledge', 'status')).out).toContain('handbook: 1 file, 1 passage\n')
  expect((await run('knowledge', 'search', 'parents')).out).toContain('Parents get 20 days')

  // A server with another data directory on the same database.
  const serving = createTestIo({ cwd, clock, env })
  const stopped = main(['serve', '--port', '0', '--log-level', 'silent', '--data-dir', 'elsewhere'], serving)
  onTestFinished(async () => {
    serving.signal('SIGTERM')
    serving.signal('SIGTERM')
    await stopped
  })
  await serving.until('Ctrl-C')
  expect((await run('knowledge', 'eval', 'questions.yaml')).out).toContain('recall@5   1.000  1 of 1')
  expect(await run('knowledge', 'clear', '--yes')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Another server or command keeps these indexes'),
  })
}, 60_000)
