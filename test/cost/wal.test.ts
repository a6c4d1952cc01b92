// What a plain run writes to the disk, in pages of SQLite's log. The commits alone, without the time between them, so the count is exact.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../../src/cli/testing/temp-folder.ts'
import { accept, append, finish, newMessage, newSession, pieces } from '../../src/store/contract/samples.contract.ts'
import type { Command } from '../../src/store/ports/command.ts'
import { openTestStore } from '../../src/store/sqlite/testing/open-test-store.ts'
import { pageLimits } from './limits.ts'

/** A page of 4 KB and its head. */
const FRAME = 4_096 + 24

test('the pages that a plain run writes are counted', async () => {
  const folder = await tempFolder()
  const path = join(folder, 'data', 'test.db')
  const store = openTestStore(path)
  onTestFinished(() => store.close())

  /** Does not wait for the disk, so that the search index cannot write in between. */
  async function pagesOf(command: Command): Promise<number> {
    const before = statSync(`${path}-wal`).size
    const { results } = await store.commit([command])
    expect(results).toMatchObject([{ ok: true }])
    return (statSync(`${path}-wal`).size - before) / FRAME
  }

  async function pagesOfRun() {
    const { run, ...accepting } = accept(newSession({ alias: crypto.randomUUID() }))
    const started = { ...run, fence: 1 }
    const words = Array.from({ length: 200 }, (_, i) => `word ${i} `)
    const usage = [{ provider: 'openai', model: 'model', inputTokens: 10, outputTokens: 200 }]
    const message = (id: string, values: Partial<ReturnType<typeof newMessage>>) =>
      newMessage(id, { runId: run.id, ...values })
    return {
      accept: await pagesOf({
        ...accepting,
        run,
        start: { ...accepting.start, messages: [message('question', { content: 'Hello' })] },
      }),
      text: await pagesOf(append(started, pieces(words, run.id))),
      finish: await pagesOf(
        finish(started, { messages: [message('answer', { role: 'assistant', content: words.join('') })], usage }),
      ),
    }
  }
  await pagesOfRun()

  expect(await pagesOfRun()).toEqual(pageLimits)
})
