import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import { openWork } from './open-work.ts'

test('an embedding that does not answer keeps no update from being stopped', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-work-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await writeFile(join(directory, 'a.md'), '# Leave\n\n20 days.\n')
  const asked = Promise.withResolvers<void>()
  const embedding = { provider: 'openai', name: 'slow', most: { texts: 10, tokens: 1_000 }, price: null }
  const work = await openWork(
    {
      store: { kind: 'sqlite', path: ':memory:', readOnly: false },
      cacheDir: join(directory, '.cache'),
      indexes: [{ id: 'docs', sources: ['.'], directory, folders: [directory], ignore: [], embedding }],
      excluded: [],
    },
    {
      listener: {
        progress() {},
        embed() {
          asked.resolve()
          return new Promise(() => {})
        },
      },
      log: silentLogger,
    },
  )
  const update = work.update('docs').catch((error: unknown) => error)
  await asked.promise
  await work.clear('docs')
  expect(await update).toMatchObject({ code: 'interrupted' })
  await work.close()
})
