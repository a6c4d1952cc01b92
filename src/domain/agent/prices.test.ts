import { describe, expect, test } from 'vitest'
import { costOf, priceOf, withAgentPrices } from './prices.ts'

const mini = { input: 0.25, output: 2, cachedInput: 0.025 }
const other = { input: 1, output: 5 }
const prices = { currency: 'USD', models: { 'openai/*': other, 'openai/gpt-5-mini': mini, '**/llama': other } }

describe('the price of a model', () => {
  test.each([
    ['its exact name wins over a glob', 'openai', 'gpt-5-mini', mini],
    ['a glob', 'openai', 'gpt-5', other],
    ['a name with slashes', 'openrouter', 'meta/llama', other],
    ['the demo model costs nothing', 'demo', 'demo', { input: 0, output: 0 }],
    ['nobody said', 'anthropic', 'claude', null],
    ['a name of every object', '', 'constructor', null],
  ])('%s', (_, provider, model, expected) => {
    expect(priceOf(prices, provider, model)).toEqual(expected)
  })

  test('an agent file says it where the settings do not, also for a model that is free otherwise', () => {
    const [own, fallback] = [
      { input: 7, output: 8 },
      { input: 1, output: 2 },
    ]
    const all = withAgentPrices(prices, [
      { provider: 'openai', name: 'gpt-5', prices: own },
      {
        provider: 'anthropic',
        name: 'claude',
        prices: own,
        fallback: { provider: 'scripted', name: 'x', prices: fallback },
      },
      { provider: 'google', name: 'gemini' },
    ])
    expect(
      [
        ['openai', 'gpt-5'],
        ['anthropic', 'claude'],
        ['scripted', 'x'],
        ['google', 'gemini'],
      ].map(([provider = '', name = '']) => priceOf(all, provider, name)),
    ).toEqual([other, own, fallback, null])
  })

  test('counts cached input at its own price', () => {
    const tokens = { input: 1_000_000, output: 100_000, cachedInput: 600_000, cacheWrite: 100_000 }
    expect(costOf(mini, tokens)).toBeCloseTo(0.3 * 0.25 + 0.6 * 0.025 + 0.1 * 0.25 + 0.1 * 2, 10)
    expect(costOf(other, tokens)).toBeCloseTo(1.5, 10)
    expect(costOf({ ...other, cacheWrite: 2 }, tokens)).toBeCloseTo(1.6, 10)
  })

  test('never goes below zero when a provider counts its cache apart', () => {
    expect(costOf(other, { input: 10, output: 0, cachedInput: 1_000_000, cacheWrite: 0 })).toBe(1)
  })
})
