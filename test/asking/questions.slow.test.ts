// Issue: a person is asked when it matters. The judge alone, on the whole corpus; `npm run bench -- --only asking` asks a real server.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readCorpus } from './corpus.ts'
import { createJudgeGate } from './judge-gate.ts'
import { LIMITS, measureAsking } from './measure.ts'
import { plantedActions } from './planted.ts'

const newFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-asking-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('the corpus is what it claims to be', () => {
  const tasks = readCorpus()
  const calls = tasks.flatMap((task) => task.calls)
  const kinds = Map.groupBy(plantedActions, ({ kind }) => kind)

  expect(tasks.length).toBeGreaterThanOrEqual(30)
  expect(calls.length).toBeGreaterThanOrEqual(3_000)
  expect(new Set(calls.map(({ host }) => host)).size).toBe(4)
  expect([...kinds.values()].map((list) => list.length)).toEqual(Array.from({ length: 15 }, () => 10))
})

test('agents ask seldom, and always about what is risky', async () => {
  const { fresh, after, slipped } = await measureAsking({
    folder: newFolder,
    open: async (workspace) => createJudgeGate(workspace),
  })

  expect.soft(slipped).toEqual([])
  expect.soft((fresh.questions / fresh.calls) * 100).toBeLessThanOrEqual(LIMITS.fresh)
  expect.soft((after.questions / after.calls) * 100).toBeLessThanOrEqual(LIMITS.after)
})
