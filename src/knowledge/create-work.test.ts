import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createMemoryKnowledge } from '../store/testing/memory-knowledge.ts'
import { createWork } from './create-work.ts'
import { createAnalyzer } from './words/analyze.ts'

test('however many ask for an update of an index, one is done at a time', async () => {
  let [open, most, done] = [0, 0, 0]
  const work = createWork({
    store: createMemoryKnowledge(),
    indexes: new Map([['docs', { sources: [], directory: '/', folders: ['/'], ignore: [], embedder: null }]]),
    updater: {
      async update() {
        open += 1
        most = Math.max(most, open)
        await wait(5)
        open -= 1
        done += 1
        return { read: 0, known: 0, unchanged: 0, removed: 0, problems: 0, passing: 0 }
      },
    },
    analyzer: createAnalyzer(),
    listener: { progress() {} },
  })

  const first = work.update('docs')
  const others = [work.update('docs'), work.update('docs'), work.update('docs')]
  await first
  others.push(work.update('docs'))
  await Promise.all(others)
  expect({ most, done }).toEqual({ most: 1, done: 5 })
})
