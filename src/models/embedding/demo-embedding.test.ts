import { expect, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { createDemoEmbedding } from './demo-embedding.ts'
import { createResilientEmbedding } from './resilient-embedding.ts'

const settings = { name: 'demo', dimensions: null, retries: 0 }
const demo = createResilientEmbedding(createDemoEmbedding(settings), settings, {
  clock: createManualClock(),
  random: () => 0,
  log: silentLogger,
})
const never = new AbortController().signal

async function alike(one: string, other: string): Promise<number> {
  const { vectors } = await demo.embed([one, other], 'passage', never)
  const [a = new Float32Array(), b = new Float32Array()] = vectors
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}

test('the same text has the same vector of length 1, whatever its case and its accents', async () => {
  expect(await alike('Réserver un congé', 'reserver UN CONGE')).toBeCloseTo(1, 5)
})

test('texts that share words, also inflected ones, are more alike than others', async () => {
  const question = 'How many days of vacation do employees get?'
  const near = await alike(question, 'Every employee has 28 vacation days.')
  const far = await alike(question, 'The printer on the second floor needs blue toner.')

  expect(near).toBeGreaterThan(0.3)
  expect(far).toBeLessThan(0.2)
})

test('a text without letters has a vector of zeros', async () => {
  expect(await demo.embed([' … '], 'query', never)).toEqual({ vectors: [new Float32Array(256)], usage: null })
})
