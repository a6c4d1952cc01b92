import { expect, test } from 'vitest'
import { costIn, costWord } from './step-cost.ts'

const price = { input: 10, output: 100, cached_input: 1, cache_write: 20 }
const prices = { currency: 'USD', models: { 'openai/mini': price } }
const mini = { provider: 'openai', model: 'mini' }

test('input from the cache, input into the cache and the rest have their own prices', () => {
  const usage = { ...mini, inputTokens: 1_000, cachedInputTokens: 600, cacheWriteInputTokens: 100, outputTokens: 50 }

  expect(costIn([usage], prices)).toBeCloseTo((300 * 10 + 600 * 1 + 100 * 20 + 50 * 100) / 1_000_000, 12)
  expect(costIn([usage, { ...mini, outputTokens: 10 }], prices)).toBeCloseTo(0.0116, 12)
  expect(costIn([{ ...mini, inputTokens: 1, cachedInputTokens: 5 }], prices)).toBeCloseTo(0.000005, 12)
  expect(costIn([], prices)).toBe(0)
})

test('tokens of a model without a price have no cost, whatever its name is', () => {
  expect(
    costIn(
      [
        { ...mini, inputTokens: 1 },
        { provider: 'openai', model: 'new', inputTokens: 1 },
      ],
      prices,
    ),
  ).toBeNull()
  expect(costIn([{ inputTokens: 1 }], { currency: 'USD', models: {} })).toBeNull()
  expect(costWord(null, 'USD')).toBe('no price')
  expect(costWord(0.0042, 'EUR')).toBe('€0.0042')
})
